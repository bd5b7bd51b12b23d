package io.easykit.cache.aop;

import io.easykit.cache.RunningLoad;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * The arguments of a read that goes on when its caller has the future or publisher. The caller may change them then, and so may the
 * method. Copies are safe from both. Without copies the keys have to be compared again when the value is there.
 */
public final class HeldArguments {

    private final ProxyMethodInvocation original;
    private final ProxyMethodInvocation invocation;

    private HeldArguments(ProxyMethodInvocation original, ProxyMethodInvocation invocation) {
        this.original = original;
        this.invocation = invocation;
    }

    /** Copies the arguments, if {@link ArgumentCopies} can. */
    public static HeldArguments copiesOf(ProxyMethodInvocation invocation) {
        Object[] copies = ArgumentCopies.of(invocation.getArguments());
        return copies == null
                ? of(invocation)
                : new HeldArguments(invocation, (ProxyMethodInvocation) invocation.invocableClone(copies));
    }

    /** The arguments as they are. */
    public static HeldArguments of(ProxyMethodInvocation invocation) {
        return new HeldArguments(invocation, invocation);
    }

    /** Whether the caller or the method can change them, and with them the keys. */
    public boolean mayChange() {
        return invocation == original;
    }

    /** The call itself, with the arguments of its caller. */
    public ProxyMethodInvocation original() {
        return original;
    }

    /** Keeps the running load to its caller, if its result may belong to another key. */
    public static void keepToCallerUnless(boolean belongsToKey) {
        RunningLoad load = belongsToKey ? null : RunningLoad.current();
        if (load != null) {
            load.keepToCaller();
        }
    }

    /** The invocation by which keys are computed. */
    public ProxyMethodInvocation invocation() {
        return invocation;
    }

    /** The invocation for one call of the method, which may change its arguments. */
    public ProxyMethodInvocation next() {
        Object[] copies = mayChange() ? null : ArgumentCopies.of(invocation.getArguments());
        return (ProxyMethodInvocation)
                (copies == null ? invocation.invocableClone() : invocation.invocableClone(copies));
    }
}
