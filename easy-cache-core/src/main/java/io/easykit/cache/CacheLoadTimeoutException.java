package io.easykit.cache;

import java.time.Duration;

/**
 * The load-wait timeout is over without a value, and too many loads run already for a further one. So a database that does not
 * answer is not flooded with loads.
 */
public final class CacheLoadTimeoutException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    public CacheLoadTimeoutException(CacheKey<?> key, String reason) {
        super(message(key, reason), null);
    }

    private static String message(CacheKey<?> key, String reason) {
        Duration timeout = key.spec().options().loadWaitTimeout();
        return "No value of " + key + " came within load-wait-timeout (" + CacheOptions.text(timeout) + "), and "
                + reason
                + ". Look for loads that hang or are slow: give the queries of the cached method a timeout. If they are"
                + " slow by nature, raise 'load-wait-timeout' or raise 'easy-cache.degraded.concurrent-loads'.";
    }
}
