package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs once for each cache that a value was loaded and could not be stored, and why. */
final class LoadHints {

    private static final Logger log = LoggerFactory.getLogger(LoadHints.class);

    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    void notStored(CacheKey<?> key, String reason) {
        String prefix = key.spec().prefix();
        if (!logged.contains(prefix) && logged.add(prefix)) {
            log.info(
                    "The value of {} is not cached, because it was loaded {}. Such calls run the method each time, unless the"
                            + " value is cached already. Logged once for '{}'.",
                    key,
                    reason,
                    prefix);
        }
    }
}
