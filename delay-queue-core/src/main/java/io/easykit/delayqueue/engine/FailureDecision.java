package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ErrorAction;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The decision about a failure of one message, by the error handler of its listener. It is made once, for the first failure.
 * Later calls of the application change nothing while it is made and carried out.
 */
final class FailureDecision {

    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile @Nullable Function<Throwable, ErrorAction> handler;
    private volatile boolean broken;

    /** Without a handler, or with null, the rest of the settings decides. */
    void by(@Nullable Function<Throwable, ErrorAction> errorHandler) {
        handler = errorHandler;
    }

    /** A reported failure has no result, because its decision has thrown. */
    void broke() {
        broken = true;
    }

    boolean isBroken() {
        return broken;
    }

    boolean hasBegun() {
        return begun.get();
    }

    /** Null if the decision has begun already. */
    @Nullable ErrorAction make(Throwable error) {
        Function<Throwable, ErrorAction> current = handler;
        if (current == null) {
            return ErrorAction.byDefault();
        }
        return begun.compareAndSet(false, true) ? current.apply(error) : null;
    }

    /** Makes the decision and carries it out. Does nothing if it has begun already. After an error it can be made again. */
    void make(Throwable error, Consumer<ErrorAction> settlement) {
        Function<Throwable, ErrorAction> current = handler;
        if (current == null) {
            settlement.accept(ErrorAction.byDefault());
        } else if (begun.compareAndSet(false, true)) {
            try {
                settlement.accept(current.apply(error));
            } catch (Throwable e) {
                begun.set(false);
                throw e;
            }
        }
    }
}
