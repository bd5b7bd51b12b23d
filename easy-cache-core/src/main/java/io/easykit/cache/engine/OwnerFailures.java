package io.easykit.cache.engine;

import io.easykit.cache.CacheLoadTimeoutException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.CancellationException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Failures of a load that concern only the thread that ran it: it was interrupted, its stack was too deep, or its load-wait
 * timeout was over, or its load is paused. Readers that share the load try again instead of failing as well.
 */
final class OwnerFailures {

    private static final int DEEPEST_CAUSE = 20;

    private OwnerFailures() {}

    /** Called on the thread that ran the load. */
    static boolean contain(Throwable failure) {
        return contain(failure, any -> isOfOwner(any) || isInterruptedIo(any));
    }

    /** The same, but the {@link InterruptedIOException} of an HTTP client whose timeout is over counts as one of the source. */
    static boolean containInterrupt(Throwable failure) {
        return contain(failure, OwnerFailures::isOfOwner);
    }

    private static boolean contain(Throwable failure, Predicate<Throwable> ofOwner) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++) {
            if (ofOwner.test(cause)) {
                return true;
            }
            cause = causeOf(cause);
        }
        return Thread.currentThread().isInterrupted();
    }

    private static @Nullable Throwable causeOf(Throwable failure) {
        try {
            return failure.getCause();
        } catch (Throwable own) {
            return null;
        }
    }

    private static boolean isOfOwner(Throwable failure) {
        return failure instanceof InterruptedException
                || failure instanceof ClosedByInterruptException
                || failure instanceof CancellationException
                || failure instanceof StackOverflowError
                || failure instanceof CacheLoadTimeoutException
                || failure instanceof LoadPausedException;
    }

    private static boolean isInterruptedIo(Throwable failure) {
        return failure instanceof InterruptedIOException && !(failure instanceof SocketTimeoutException);
    }
}
