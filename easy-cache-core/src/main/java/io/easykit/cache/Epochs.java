package io.easykit.cache;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The epoch of each prefix of one cluster, as far as it is known here. Raising it makes every older entry of the prefix a
 * miss, whatever their number.
 */
final class Epochs {

    private final Map<String, Long> known = new ConcurrentHashMap<>();

    long of(CacheKey<?> key) {
        Long epoch = known.get(key.spec().prefix());
        return epoch == null ? 0 : epoch;
    }

    /** Epochs only ever rise, also in the view of a node that hears of them late or twice. */
    void learn(Map<String, Long> epochs) {
        epochs.forEach((prefix, epoch) -> known.merge(prefix, epoch, Math::max));
    }
}
