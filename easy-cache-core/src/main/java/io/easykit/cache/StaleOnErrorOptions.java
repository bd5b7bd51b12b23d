package io.easykit.cache;

import static io.easykit.cache.InvalidCacheOptionsException.atLeast;

import java.time.Duration;
import java.util.Set;

/**
 * How values that have expired are returned if the load of a new one fails. A value that was invalidated is never returned this
 * way.
 *
 * @param keptFor how long after the end of its TTL a value may be returned
 * @param loadSoftTimeout how long a reader waits for a load before it gets the expired value, while the load goes on in the
 *     background; zero for no such limit
 * @param loadRetryAfter how long after a failed load readers of its key on this node get the expired value without a load
 * @param except exceptions of the loader that always reach the caller, with their subclasses: the answer of a source that works
 */
public record StaleOnErrorOptions(
        Duration keptFor, Duration loadSoftTimeout, Duration loadRetryAfter, Set<Class<? extends Throwable>> except) {

    private static final Duration DEFAULT_RETRY_AFTER = Duration.ofSeconds(1);
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);

    /**
     * @throws InvalidCacheOptionsException if a value makes no sense
     */
    public StaleOnErrorOptions {
        atLeast("stale-on-error", keptFor, SHORTEST);
        atLeast("load-soft-timeout", loadSoftTimeout, Duration.ZERO);
        atLeast("load-retry-after", loadRetryAfter, SHORTEST_PAUSE);
        except = Set.copyOf(except);
    }

    /** Values are kept for a time; no soft timeout, a retry after one second, and no exceptions that always reach the caller. */
    public static StaleOnErrorOptions keptFor(Duration time) {
        return new StaleOnErrorOptions(time, Duration.ZERO, DEFAULT_RETRY_AFTER, Set.of());
    }

    /**
     * The mistake of a setting that has no effect, because values are not kept.
     *
     * @param setting for example {@code load-soft-timeout}
     */
    public static InvalidCacheOptionsException needsTime(String setting) {
        return new InvalidCacheOptionsException(
                setting,
                "has no effect, because the cache has no 'stale-on-error'",
                "Set 'stale-on-error' of this cache, for example to 1h, or remove it.");
    }

    public StaleOnErrorOptions withLoadSoftTimeout(Duration value) {
        return new StaleOnErrorOptions(keptFor, value, loadRetryAfter, except);
    }

    public StaleOnErrorOptions withLoadRetryAfter(Duration value) {
        return new StaleOnErrorOptions(keptFor, loadSoftTimeout, value, except);
    }

    public StaleOnErrorOptions withExcept(Set<Class<? extends Throwable>> value) {
        return new StaleOnErrorOptions(keptFor, loadSoftTimeout, loadRetryAfter, value);
    }

    /** Whether an exception of the loader reaches the caller although there is an expired value. */
    public boolean isExcepted(Throwable failure) {
        return except.stream().anyMatch(type -> type.isInstance(failure));
    }
}
