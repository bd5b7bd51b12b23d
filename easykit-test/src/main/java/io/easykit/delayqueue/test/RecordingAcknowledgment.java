package io.easykit.delayqueue.test;

import io.easykit.delayqueue.Acknowledgment;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Records how a listener has settled a message. As in production, the first call decides, and null is refused. Thread-safe. */
public final class RecordingAcknowledgment implements Acknowledgment {

    /** How a message was settled. */
    public enum Result {
        /** Not yet. In automatic mode the container acknowledges it when the method returns. */
        OPEN,
        ACKNOWLEDGED,
        FAILED,
        REJECTED
    }

    private Result result = Result.OPEN;
    private @Nullable Throwable error;
    private @Nullable Duration retryAfter;
    private boolean lost;

    @Override
    public void acknowledge() {
        settle(Result.ACKNOWLEDGED, null, null);
    }

    @Override
    public void fail(Throwable failure) {
        settle(Result.FAILED, Objects.requireNonNull(failure), null);
    }

    @Override
    public void fail(Throwable failure, Duration wait) {
        settle(Result.FAILED, Objects.requireNonNull(failure), Objects.requireNonNull(wait));
    }

    @Override
    public void reject(Throwable failure) {
        settle(Result.REJECTED, Objects.requireNonNull(failure), null);
    }

    private synchronized void settle(Result by, @Nullable Throwable failure, @Nullable Duration wait) {
        if (result == Result.OPEN) {
            result = by;
            error = failure;
            retryAfter = wait;
        }
    }

    @Override
    public synchronized boolean isLost() {
        return lost;
    }

    /** Lets the listener see that it has lost the message. */
    public synchronized RecordingAcknowledgment lose() {
        lost = true;
        return this;
    }

    public synchronized Result result() {
        return result;
    }

    /** The error with which it has failed or was rejected; else null. */
    public synchronized @Nullable Throwable error() {
        return error;
    }

    /** The wait that the listener has chosen; null if it has chosen none. */
    public synchronized @Nullable Duration retryAfter() {
        return retryAfter;
    }
}
