package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.Consistency;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one cache, or of all; what is not set is null.
 *
 * @param consistency what a read may return around an update
 * @param ttl life of a value
 * @param nullTtl life of "there is nothing"
 * @param ttlJitter by which part of it (0 to 0.5) a life is shortened at random
 * @param staleWindow for how long after an update a reader may still be given the old value
 * @param refreshAhead the last part of the life in which one reader reloads in the background
 * @param election how long a loader is the only one
 * @param waiting how long a reader waits for somebody else's load before it loads for itself
 * @param lease how long an update that crashed keeps others from storing; longer than any commit
 */
public record CacheSettings(
        @Nullable Consistency consistency,
        @Nullable Duration ttl,
        @Nullable Duration nullTtl,
        @Nullable Double ttlJitter,
        @Nullable Duration staleWindow,
        @Nullable Duration refreshAhead,
        @Nullable Duration election,
        @Nullable Duration waiting,
        @Nullable Duration lease) {

    public static final CacheSettings NONE = new CacheSettings(null, null, null, null, null, null, null, null, null);

    /** These settings, and where one is not set, the other's. */
    CacheSettings over(CacheSettings other) {
        return new CacheSettings(
                first(consistency, other.consistency),
                first(ttl, other.ttl),
                first(nullTtl, other.nullTtl),
                first(ttlJitter, other.ttlJitter),
                first(staleWindow, other.staleWindow),
                first(refreshAhead, other.refreshAhead),
                first(election, other.election),
                first(waiting, other.waiting),
                first(lease, other.lease));
    }

    /**
     * The options that come out, where the library's defaults fill in what is not set.
     *
     * @throws io.easykit.cache.InvalidCacheOptionsException if they cannot work
     */
    CacheOptions toOptions() {
        CacheOptions defaults = CacheOptions.defaults();
        return new CacheOptions(
                or(consistency, defaults.consistency()),
                or(ttl, defaults.ttl()),
                or(nullTtl, defaults.nullTtl()),
                or(ttlJitter, defaults.ttlJitter()),
                or(staleWindow, defaults.staleWindow()),
                or(refreshAhead, defaults.refreshAhead()),
                or(election, defaults.election()),
                or(waiting, defaults.waiting()),
                or(lease, defaults.lease()));
    }

    private static <T> @Nullable T first(@Nullable T one, @Nullable T other) {
        return one != null ? one : other;
    }

    private static <T> T or(@Nullable T value, T otherwise) {
        return value != null ? value : otherwise;
    }
}
