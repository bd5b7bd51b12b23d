package io.easykit.console.queue;

import io.easykit.console.ConsoleApi.Change;
import io.easykit.console.ConsoleApi.Planned;
import io.easykit.console.ConsoleApi.Read;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Errors of the store as texts for the page. */
final class StoreErrors {

    private StoreErrors() {}

    static Read explained(Read read) {
        return (request, caller) -> explained(() -> read.answer(request, caller));
    }

    static Map<String, Change> explained(Map<String, Change> changes) {
        Map<String, Change> explained = new LinkedHashMap<>();
        changes.forEach((name, change) -> explained.put(name, (input, caller) -> {
            Planned planned = explained(() -> change.plan(input, caller));
            return new Planned(
                    planned.target(),
                    planned.ids(),
                    planned.filter(),
                    () -> explained(() -> planned.act().run()));
        }));
        return explained;
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
        } catch (StoreRefusedException refused) {
            throw new Refusal(503, String.valueOf(refused.getMessage()), "Correct it in Redis.", "refused");
        }
    }
}
