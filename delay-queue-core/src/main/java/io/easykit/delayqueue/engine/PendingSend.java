package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.PreparedMessage.Stored;
import io.easykit.delayqueue.store.NewMessage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A send of one thread that may wait for the call of another one. It is resumed once, with the next step of its thread. */
final class PendingSend {

    // Constants, because to resume a waiting send must need no memory: it would wait for ever.

    /** The send leads the next call. */
    @SuppressWarnings("UnnecessaryLambda") // compared by identity
    static final Supplier<Stored> LEADS = () -> {
        throw new IllegalStateException("The thread of the send leads");
    };

    /** The call failed, and so did the attempt to describe this. */
    @SuppressWarnings("UnnecessaryLambda")
    static final Supplier<Stored> FAILS = () -> {
        throw new StoreUnavailableException(
                "The call that this send went with, or waited for, failed",
                new IllegalStateException("Its failure could not be described"));
    };

    /** The call lasts longer than any should. */
    @SuppressWarnings("UnnecessaryLambda")
    static final Supplier<Stored> IS_LATE = () -> {
        throw new StoreUnavailableException(
                "The thread whose call this send went with did not return in time",
                new IllegalStateException(
                        "Threads may wait for each other, such as virtual threads that send inside synchronized"));
    };

    private final NewMessage message;
    private final CompletableFuture<Supplier<Stored>> turn = new CompletableFuture<>();

    PendingSend(NewMessage message) {
        this.message = message;
    }

    NewMessage message() {
        return message;
    }

    int bytes() {
        return message.frame().length();
    }

    /** False if it was resumed before; then nothing has changed. */
    boolean resume(Supplier<Stored> next) {
        return turn.complete(next);
    }

    boolean isResumed() {
        return turn.isDone();
    }

    /** The step with which it was resumed. */
    Supplier<Stored> next() {
        return turn.join();
    }

    /** Null after the time. The wait is not interruptible: the call may be on its way. */
    @Nullable Supplier<Stored> await(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return turn.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } catch (TimeoutException e) {
            return null;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e); // it is always completed with a value
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
