package io.easykit.cache.engine;

import io.easykit.cache.store.Outbox.Message;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Messages that were delivered for the first of two times. */
final class SecondDeliveries {

    /** A message whose second delivery is later than this begins again. */
    private static final Duration FORGOTTEN = Duration.ofMinutes(1);

    private final Ticker ticker;
    private final Map<Message, Long> first = new HashMap<>();

    SecondDeliveries(Ticker ticker) {
        this.ticker = ticker;
    }

    /** Whether this delivery of the message is the first one. After the second one it begins again. */
    boolean begins(Message message) {
        return first.remove(message) == null;
    }

    /** Records that these messages were delivered for the first time. */
    void record(Collection<Message> messages) {
        long now = ticker.nanoTime();
        first.values().removeIf(at -> now - at > FORGOTTEN.toNanos());
        messages.forEach(message -> first.put(message, now));
    }

    /** Messages that were delivered for the first time within this time. */
    List<Message> within(Duration time) {
        long now = ticker.nanoTime();
        return first.entrySet().stream()
                .filter(one -> now - one.getValue() < time.toNanos())
                .map(Map.Entry::getKey)
                .toList();
    }
}
