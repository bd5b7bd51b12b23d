package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.support.LogText;
import io.easykit.redis.CallFailures;
import io.easykit.redis.ErrorReply;
import io.easykit.redis.NotConnectedException;
import io.easykit.redis.RedisReply;
import io.easykit.redis.Remedy;
import org.jspecify.annotations.Nullable;

/**
 * Makes the queue's exceptions of failed calls. Callers must know whether a call was carried out, so unlike the cache, which
 * goes on without Redis, the queue distinguishes a full server, a refusal that lasts, and a call without an answer.
 */
final class QueueFailures {

    private QueueFailures() {}

    static DelayQueueException translate(String call, RuntimeException failure) {
        return translate(call, failure, "");
    }

    /**
     * @param call name of the call, for the message
     * @param remedy sentences to add to a refusal, or nothing
     */
    static DelayQueueException translate(String call, RuntimeException failure, String remedy) {
        Throwable cause = RedisReply.safe(failure);
        ErrorReply error = ErrorReply.of(failure);
        if (error != null && error.isOutOfMemory()) {
            return new StoreFullException(
                    "Redis is out of memory and refused " + call
                            + ". The call has stored nothing. Free memory, or raise maxmemory.",
                    cause);
        }
        if (error != null && !error.isServerState()) {
            return new StoreRefusedException(
                    "Redis refused " + call + ": " + sentence(LogText.of(error.text()) + Remedy.of(error), remedy),
                    cause);
        }
        if (failure instanceof NotConnectedException unsent) {
            return notSent(call, unsent);
        }
        String text = LogText.of(CallFailures.describe(failure));
        if (error != null) {
            return StoreUnavailableException.notCarriedOut(
                    "Redis cannot carry out " + call + " now: " + text + Remedy.of(error), cause);
        }
        if (CallFailures.isNotSent(failure)) {
            return StoreUnavailableException.notCarriedOut(
                    "Redis is not connected, and " + call + " was not carried out: " + text, cause);
        }
        return new StoreUnavailableException(
                "Redis did not answer " + call + ", so its outcome is unknown: " + text, cause);
    }

    private static String sentence(String text, String next) {
        return next.isEmpty() || text.endsWith(".") ? text + next : text + "." + next;
    }

    private static DelayQueueException notSent(String call, NotConnectedException failure) {
        if (failure.getCause() instanceof IllegalStateException) {
            return StoreUnavailableException.notCarriedOut(
                    "The connection to Redis is closed, because the application stops or has not started it yet, and "
                            + call
                            + " was not carried out. Send before the application context is closed, for example in a"
                            + " SmartLifecycle or a listener of ContextClosedEvent.",
                    failure);
        }
        return StoreUnavailableException.notCarriedOut(
                "Redis cannot be reached, and " + call + " was not carried out: "
                        + LogText.of(CallFailures.describe(failure)),
                RedisReply.safe(failure));
    }

    /** Returns the error of Redis if a repetition would give the same error, else null. */
    static @Nullable ErrorReply refusal(Throwable failure) {
        ErrorReply error = ErrorReply.of(failure);
        return error == null || error.isServerState() ? null : error;
    }
}
