package io.easykit.cache;

import java.time.Duration;

/**
 * How the entries of one cache live.
 *
 * @param consistency what a read may return around an update
 * @param ttl life of a value
 * @param nullTtl life of "there is nothing" (null, {@code Optional.empty()})
 * @param ttlJitter by which part of it (0 to 0.5) a life is shortened at random, so that entries stored together do not
 *     expire together
 * @param staleWindow for how long after an update an AP reader may still be given the old value; zero makes the entry
 *     strong at the moment of the update. CP readers never use it
 * @param refreshAhead the last part of the life in which one reader reloads in the background
 * @param election how long a loader is the only one; a slower load still gets stored
 * @param waiting how long a reader waits for somebody else's load before it loads for itself
 * @param lease how long an update that crashed keeps others from storing; longer than any commit
 * @param reload where a value is loaded again while an older one may still be returned
 */
public record CacheOptions(
        Consistency consistency,
        Duration ttl,
        Duration nullTtl,
        double ttlJitter,
        Duration staleWindow,
        Duration refreshAhead,
        Duration election,
        Duration waiting,
        Duration lease,
        Reload reload) {

    private static final Duration SHORTEST_LIFE = Duration.ofMillis(10);
    private static final Duration LONGEST_LIFE = Duration.ofDays(3650);

    private static final CacheOptions DEFAULTS = new CacheOptions(
            Consistency.AP,
            Duration.ofMinutes(10),
            Duration.ofSeconds(60),
            0.1,
            Duration.ofMillis(1500),
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(3),
            Duration.ofSeconds(30),
            Reload.BACKGROUND);

    /**
     * @throws InvalidCacheOptionsException if a value makes no sense, alone or beside the others
     */
    public CacheOptions {
        atLeast("ttl", ttl, SHORTEST_LIFE);
        atLeast("null-ttl", nullTtl, SHORTEST_LIFE);
        atLeast("stale-window", staleWindow, Duration.ZERO);
        atLeast("refresh-ahead", refreshAhead, Duration.ZERO);
        atLeast("election", election, SHORTEST_LIFE);
        atLeast("waiting", waiting, Duration.ZERO);
        atLeast("lease", lease, SHORTEST_LIFE);
        if (!(ttlJitter >= 0 && ttlJitter <= 0.5)) {
            throw new InvalidCacheOptionsException(
                    "ttl-jitter", "is " + ttlJitter, "Choose a part of the ttl between 0 and 0.5.");
        }
        if (consistency == Consistency.AP && staleWindow.compareTo(ttl) >= 0) {
            throw new InvalidCacheOptionsException(
                    "stale-window",
                    "of " + text(staleWindow) + " is not shorter than the ttl of " + text(ttl),
                    "Lengthen the ttl or shorten the stale window; 0s makes the entry strong.");
        }
    }

    public static CacheOptions defaults() {
        return DEFAULTS;
    }

    public CacheOptions withConsistency(Consistency value) {
        return new CacheOptions(
                value, ttl, nullTtl, ttlJitter, staleWindow, refreshAhead, election, waiting, lease, reload);
    }

    public CacheOptions withTtl(Duration value) {
        return new CacheOptions(
                consistency, value, nullTtl, ttlJitter, staleWindow, refreshAhead, election, waiting, lease, reload);
    }

    public CacheOptions withNullTtl(Duration value) {
        return new CacheOptions(
                consistency, ttl, value, ttlJitter, staleWindow, refreshAhead, election, waiting, lease, reload);
    }

    public CacheOptions withTtlJitter(double value) {
        return new CacheOptions(
                consistency, ttl, nullTtl, value, staleWindow, refreshAhead, election, waiting, lease, reload);
    }

    public CacheOptions withStaleWindow(Duration value) {
        return new CacheOptions(
                consistency, ttl, nullTtl, ttlJitter, value, refreshAhead, election, waiting, lease, reload);
    }

    public CacheOptions withRefreshAhead(Duration value) {
        return new CacheOptions(
                consistency, ttl, nullTtl, ttlJitter, staleWindow, value, election, waiting, lease, reload);
    }

    public CacheOptions withElection(Duration value) {
        return new CacheOptions(
                consistency, ttl, nullTtl, ttlJitter, staleWindow, refreshAhead, value, waiting, lease, reload);
    }

    public CacheOptions withWaiting(Duration value) {
        return new CacheOptions(
                consistency, ttl, nullTtl, ttlJitter, staleWindow, refreshAhead, election, value, lease, reload);
    }

    public CacheOptions withLease(Duration value) {
        return new CacheOptions(
                consistency, ttl, nullTtl, ttlJitter, staleWindow, refreshAhead, election, waiting, value, reload);
    }

    public CacheOptions withReload(Reload value) {
        return new CacheOptions(
                consistency, ttl, nullTtl, ttlJitter, staleWindow, refreshAhead, election, waiting, lease, value);
    }

    /** The window that counts: a CP entry has none, whatever is set. */
    public Duration window() {
        return consistency == Consistency.CP ? Duration.ZERO : staleWindow;
    }

    /** Whether a reader may be given a value that has been invalidated, inside the stale window. */
    public boolean takesOld() {
        return !window().isZero();
    }

    /** The last part of a value's life in which it is refreshed: at most a tenth of the shortest life. */
    public Duration ahead() {
        return ahead(ttl);
    }

    /** The last part of the life of "there is nothing" in which it is refreshed: at most a tenth of the shortest life. */
    public Duration aheadOfNothing() {
        return ahead(nullTtl);
    }

    private Duration ahead(Duration life) {
        // Every hit asks this, and Duration.dividedBy goes through BigDecimal.
        Duration tenth = Duration.ofMillis((long) (life.toMillis() * (1 - ttlJitter)) / 10);
        return refreshAhead.compareTo(tenth) < 0 ? refreshAhead : tenth;
    }

    private static void atLeast(String name, Duration value, Duration least) {
        if (value.compareTo(LONGEST_LIFE) > 0) {
            throw new InvalidCacheOptionsException(
                    name, "is longer than ten years", "Choose a duration that means something, for example 10m.");
        }
        if (value.compareTo(least) < 0) {
            throw new InvalidCacheOptionsException(
                    name, "is " + text(value), "Choose " + text(least) + " or more, for example 10s or 5m.");
        }
    }

    private static String text(Duration value) {
        return value.toMillisPart() == 0 ? value.toSeconds() + "s" : value.toMillis() + "ms";
    }
}
