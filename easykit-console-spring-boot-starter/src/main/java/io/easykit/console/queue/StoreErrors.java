package io.easykit.console.queue;

import io.easykit.boot.HttpProblem;
import io.easykit.console.ConsoleApi.Change;
import io.easykit.console.ConsoleApi.Done;
import io.easykit.console.ConsoleApi.Planned;
import io.easykit.console.ConsoleApi.Read;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.actuate.QueueProblem;
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
                    503, "Redis did not answer in time.", QueueProblem.of(away).action(), "redis");
        } catch (DelayQueueException failure) {
            throw refusal(failure);
        }
    }

    private static Refusal refusal(DelayQueueException failure) {
        HttpProblem problem = QueueProblem.of(failure);
        String kind = problem.status() < 500 ? null : REFUSED;
        return new Refusal(problem.status(), problem.detail(), problem.action(), kind);
    }
}
