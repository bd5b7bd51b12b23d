package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.Reload;
import java.time.Duration;
import java.util.List;
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
 * @param reload where a value is loaded again while an older one may still be returned
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
        @Nullable Duration lease,
        @Nullable Reload reload) {

    public static final CacheSettings NONE =
            new CacheSettings(null, null, null, null, null, null, null, null, null, null);

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
                first(lease, other.lease),
                first(reload, other.reload));
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
                or(lease, defaults.lease()),
                or(reload, defaults.reload()));
    }

    /**
     * One attempt for each setting, which fails if it cannot work, whatever the others are. CP, because the rule between
     * stale window and ttl is one between several.
     */
    public List<Runnable> checks() {
        return List.of(
                () -> with(ttl, null, null, null, null, null, null, null),
                () -> with(null, nullTtl, null, null, null, null, null, null),
                () -> with(null, null, ttlJitter, null, null, null, null, null),
                () -> with(null, null, null, staleWindow, null, null, null, null),
                () -> with(null, null, null, null, refreshAhead, null, null, null),
                () -> with(null, null, null, null, null, election, null, null),
                () -> with(null, null, null, null, null, null, waiting, null),
                () -> with(null, null, null, null, null, null, null, lease));
    }

    private static void with(
            @Nullable Duration ttl,
            @Nullable Duration nullTtl,
            @Nullable Double ttlJitter,
            @Nullable Duration staleWindow,
            @Nullable Duration refreshAhead,
            @Nullable Duration election,
            @Nullable Duration waiting,
            @Nullable Duration lease) {
        new CacheSettings(
                        Consistency.CP,
                        ttl,
                        nullTtl,
                        ttlJitter,
                        staleWindow,
                        refreshAhead,
                        election,
                        waiting,
                        lease,
                        null)
                .toOptions();
    }

    private static <T> @Nullable T first(@Nullable T one, @Nullable T other) {
        return one != null ? one : other;
    }

    private static <T> T or(@Nullable T value, T otherwise) {
        return value != null ? value : otherwise;
    }
}
