package io.easykit.delayqueue.actuate;

import io.easykit.boot.HttpProblem;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.admin.UnknownTopicException;

/** Exceptions of the queue as replies, for the endpoint and the console. */
public final class QueueProblem {

    private QueueProblem() {}

    /** The reply to a request that has thrown an exception. Below 500 the request is at fault, and nothing was changed. */
    public static HttpProblem of(DelayQueueException failure) {
        if (failure instanceof TopicConflictException conflict) {
            return new HttpProblem(409, conflict.problem(), conflict.remedy());
        }
        if (failure instanceof UnknownTopicException unknown) {
            return new HttpProblem(404, unknown.problem(), unknown.remedy());
        }
        String reason = String.valueOf(failure.getMessage());
        if (failure instanceof MessageTooLargeException) {
            return new HttpProblem(413, reason, "Shorten it, or raise delay-queue.max-message-size on all nodes.");
        }
        if (failure instanceof UndecodableMessageException) {
            // Requests decode envelopes alone, never payloads.
            return new HttpProblem(409, reason, "Use a node of a later version, or look at the message in Redis.");
        }
        if (failure instanceof StoreUnavailableException) {
            return new HttpProblem(
                    503, reason, "Check Redis and the network. Delivery continues by itself when Redis answers.");
        }
        return failure instanceof StoreFullException
                ? new HttpProblem(503, reason, "Raise maxmemory, or purge old dead letters.")
                : new HttpProblem(503, reason, "Correct it in Redis.");
    }
}
