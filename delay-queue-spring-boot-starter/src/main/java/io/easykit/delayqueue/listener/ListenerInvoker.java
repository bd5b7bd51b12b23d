package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.MessageHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;

/** Calls the method of a listener. */
final class ListenerInvoker implements MessageHandler<Object>, MessageHandler.Batch<Object> {

    private final Supplier<Target> target;
    private final ListenerSignature signature;

    /** @param where the method on the bean that other beans get, with all its proxies */
    ListenerInvoker(Supplier<ListenerMethod> where, ListenerSignature signature) {
        this.target = SingletonSupplier.of(() -> Target.of(where.get()));
        this.signature = signature;
    }

    /**
     * Resolves the bean, which the first call does otherwise.
     *
     * @throws InvalidDelayListenerException if its proxy does not have the method
     */
    void resolve() {
        var unused = target.get();
    }

    @Override
    public void handle(DelayMessage<Object> message) throws Exception {
        Object[] arguments;
        try {
            arguments = signature.arguments().stream()
                    .map(argument -> argument.of(message))
                    .toArray();
        } catch (InvalidHeaderException e) {
            message.acknowledgment().fail(e);
            return;
        }
        invoke(arguments);
    }

    @Override
    public void handle(List<DelayMessage<Object>> messages) throws Exception {
        ListenerSignature.Argument element = signature.arguments().get(0);
        List<@Nullable Object> changeable = new ArrayList<>(messages.size());
        messages.forEach(message -> changeable.add(element.of(message)));
        invoke(changeable);
    }

    private void invoke(@Nullable Object... arguments) throws Exception {
        try {
            Target resolved = target.get();
            MethodRules.requireDone(resolved.where, resolved.method.invoke(resolved.where.bean(), arguments));
        } catch (InvocationTargetException e) {
            throw thrownIn(e);
        }
    }

    /** Returns what the method threw. A proxy wraps a checked exception that the method does not declare. */
    private static Exception thrownIn(InvocationTargetException call) {
        Throwable thrown = call.getCause();
        if (thrown instanceof UndeclaredThrowableException ofProxy && ofProxy.getCause() != null) {
            thrown = ofProxy.getCause();
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof Exception exception ? exception : call;
    }

    private record Target(ListenerMethod where, Method method) {

        static Target of(ListenerMethod where) {
            return new Target(where, MethodRules.requireInvocable(where));
        }
    }
}
