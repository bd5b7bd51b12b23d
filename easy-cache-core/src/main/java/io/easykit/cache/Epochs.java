package io.easykit.cache;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The epoch of each prefix of one cluster. Raising it makes every older entry of the prefix a miss, whatever their
 * number.
 */
final class Epochs {

    private final Map<String, Long> known = new ConcurrentHashMap<>();

    long of(CacheKey<?> key) {
        Long epoch = known.get(key.spec().prefix());
        return epoch == null ? 0 : epoch;
    }
}
