package io.easykit.console.queue;

import io.easykit.console.ConsoleApi.Change;
import io.easykit.console.ConsoleApi.Done;
import io.easykit.console.ConsoleApi.Planned;
import io.easykit.console.ConsoleApi.Read;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.admin.UnknownTopicException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Errors of the queue and its store as texts for the page. */
final class StoreErrors {

    /** Kind of the problem for the page. */
    private static final String REFUSED = "refused";

    private StoreErrors() {}

    static Read explained(Read read) {
        return (request, caller) -> explained(() -> read.answer(request, caller));
    }

    static Map<String, Change> explained(Map<String, Change> changes) {
        Map<String, Change> explained = new LinkedHashMap<>();
        changes.forEach((name, change) -> explained.put(name, (input, caller) -> {
            Planned planned = explained(() -> change.plan(input, caller));
            return new Planned(planned.target(), planned.ids(), planned.filter(), () -> made(planned));
        }));
        return explained;
    }

    /**
     * Makes a change. A change of one message is one call; any other one may be made of several, so an error may follow on a
     * part that was made.
     */
    private static Done made(Planned planned) {
        boolean single = planned.ids().size() == 1;
        try {
            return planned.act().run();
        } catch (StoreUnavailableException away) {
            if (single && !away.isOutcomeUnknown()) {
                throw new Refusal(
                        503, "Redis did not answer. Nothing was changed.", "Check Redis and the network.", "redis");
            }
            throw Refusal.ofUnknownOutcome("Redis did not answer in time.", "Check Redis and the network.", "redis");
        } catch (DelayQueueException failure) {
            Refusal refusal = refusal(failure);
            boolean isUnchanged = single || refusal.status() < 500;
            throw isUnchanged
                    ? refusal
                    : Refusal.ofUnknownOutcome(String.valueOf(refusal.getMessage()), refusal.action(), REFUSED);
        }
    }

    private static <T> T explained(Supplier<T> call) {
        try {
            return call.get();
        } catch (StoreUnavailableException away) {
            throw new Refusal(
                    503,
                    "Redis did not answer in time.",
                    "Check Redis and the network. Delivery continues by itself when Redis answers.",
                    "redis");
        } catch (DelayQueueException failure) {
            throw refusal(failure);
        }
    }

    /** Below 500 the request is at fault, and nothing was changed. */
    private static Refusal refusal(DelayQueueException failure) {
        if (failure instanceof TopicConflictException conflict) {
            return new Refusal(409, conflict.problem(), conflict.remedy());
        }
        if (failure instanceof UnknownTopicException unknown) {
            return new Refusal(404, unknown.problem(), unknown.remedy());
        }
        String reason = String.valueOf(failure.getMessage());
        if (failure instanceof MessageTooLargeException) {
            return new Refusal(413, reason, "Shorten it, or raise delay-queue.max-message-size on all nodes.");
        }
        if (failure instanceof UndecodableMessageException) {
            return new Refusal(
                    409, reason, "Check the payload type and the codec, or use a node of the version that sent it.");
        }
        return failure instanceof StoreFullException
                ? new Refusal(503, reason, "Raise maxmemory, or purge old dead letters.", REFUSED)
                : new Refusal(503, reason, "Correct it in Redis.", REFUSED);
    }
}
