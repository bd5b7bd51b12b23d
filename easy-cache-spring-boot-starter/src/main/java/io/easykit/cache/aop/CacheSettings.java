package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.Reload;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.StaleOnErrorOptions;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one cache, or the defaults of all caches. A setting that is not set is null.
 *
 * @param consistency Consistency of reads during and after an update: ap may return a stale value within the stale
 *     window, cp never does.
 * @param ttl TTL of a value, from 10ms to 3650d.
 * @param nullTtl TTL of an absent value (null or an empty Optional), from 10ms to 3650d.
 * @param ttlJitter Maximum share of the TTL, from 0 to 0.5, by which it is shortened at random, so that entries do not
 *     expire together.
 * @param staleWindow Maximum time after an update during which readers may get the stale value, from 0s to 3650d and
 *     shorter than the TTL. With 0s, or with cp, it is never returned.
 * @param refreshAhead Time before the expiry during which one reader refreshes the value in the background, from 0s to
 *     3650d, but at most a tenth of the TTL. With 0s values are not refreshed early.
 * @param nearTtl Maximum time for which a value is kept in this JVM and returned without a read of Redis, from 0s to 3650d.
 *     Updates of other nodes are missed for at most this time. With 0s values are not kept. Only with ap.
 * @param loadLease Time for which one loader holds the exclusive right to load an entry, from 10ms to 3650d. The
 *     value of a load that takes up to two minutes longer is still stored.
 * @param loadWaitTimeout Maximum time for a reader to wait for the load of another reader before it loads the value itself,
 *     from 0s to 3650d. Set it longer than the slowest load.
 * @param updateLease Time for which an entry is not stored after its updater crashed, and for which ap may return the stale
 *     value then, from 10ms to 3650d. Set it longer than any commit takes. It is renewed while the method of an update runs.
 * @param reload Thread on which a value is reloaded while the older one may still be returned: background, or caller if
 *     the load depends on state of the calling thread.
 * @param staleOnError Time after the end of its TTL for which a value may still be returned if the load of a new one fails, from
 *     0s to 3650d. Invalidated values are never returned. With 0s the exception is thrown. Only with ap.
 * @param loadSoftTimeout Maximum time for a reader to wait for a load before it gets the expired value, while the load goes on in
 *     the background, from 0s to 3650d. With 0s it waits for the load. Needs stale-on-error.
 * @param loadRetryAfter Time after a failed load for which readers of its key on this node get the expired value without a load,
 *     from 10ms to 3650d. Needs stale-on-error.
 * @param serial Whether reads and updates of one key run one after the other in this JVM, in order of arrival.
 * @param serialWait Maximum time for a call of a serial cache to wait for its turn, above 0s and up to 1d. Then it fails and does
 *     not run.
 * @param serialQueue Maximum number of calls of a serial cache that wait for one key. Further ones fail at once.
 */
public record CacheSettings(
        @Nullable Consistency consistency,
        @Nullable Duration ttl,
        @Nullable Duration nullTtl,
        @Nullable Double ttlJitter,
        @Nullable Duration staleWindow,
        @Nullable Duration refreshAhead,
        @Nullable Duration nearTtl,
        @Nullable Duration loadLease,
        @Nullable Duration loadWaitTimeout,
        @Nullable Duration updateLease,
        @Nullable Reload reload,
        @Nullable Duration staleOnError,
        @Nullable Duration loadSoftTimeout,
        @Nullable Duration loadRetryAfter,
        @Nullable Boolean serial,
        @Nullable Duration serialWait,
        @Nullable Integer serialQueue) {

    public static final CacheSettings NONE = new CacheSettings(
            null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);

    private static final StaleOnErrorOptions ANY_KEPT = StaleOnErrorOptions.keptFor(Duration.ofHours(1));

    /** Returns these settings, and the other's for those that are not set here. */
    CacheSettings over(CacheSettings other) {
        return new CacheSettings(
                first(consistency, other.consistency),
                first(ttl, other.ttl),
                first(nullTtl, other.nullTtl),
                first(ttlJitter, other.ttlJitter),
                first(staleWindow, other.staleWindow),
                first(refreshAhead, other.refreshAhead),
                first(nearTtl, other.nearTtl),
                first(loadLease, other.loadLease),
                first(loadWaitTimeout, other.loadWaitTimeout),
                first(updateLease, other.updateLease),
                first(reload, other.reload),
                first(staleOnError, other.staleOnError),
                first(loadSoftTimeout, other.loadSoftTimeout),
                first(loadRetryAfter, other.loadRetryAfter),
                first(serial, other.serial),
                first(serialWait, other.serialWait),
                first(serialQueue, other.serialQueue));
    }

    /** @param name as in a properties file */
    boolean isSet(String name) {
        Object value =
                switch (name) {
                    case "consistency" -> consistency;
                    case "ttl" -> ttl;
                    case "null-ttl" -> nullTtl;
                    case "ttl-jitter" -> ttlJitter;
                    case "stale-window" -> staleWindow;
                    case "refresh-ahead" -> refreshAhead;
                    case "near-ttl" -> nearTtl;
                    case "load-lease" -> loadLease;
                    case "load-wait-timeout" -> loadWaitTimeout;
                    case "update-lease" -> updateLease;
                    case "reload" -> reload;
                    case "stale-on-error" -> staleOnError;
                    case "load-soft-timeout" -> loadSoftTimeout;
                    case "load-retry-after" -> loadRetryAfter;
                    case "serial" -> serial;
                    case "serial-wait" -> serialWait;
                    case "serial-queue" -> serialQueue;
                    default -> throw new IllegalArgumentException(name);
                };
        return value != null;
    }

    /**
     * Returns the resulting options, with the library's defaults for settings that are not set.
     *
     * @throws io.easykit.cache.InvalidCacheOptionsException if they are invalid
     */
    CacheOptions toOptions() {
        CacheOptions.Builder options = CacheOptions.builder();
        set(consistency, options::consistency);
        set(ttl, options::ttl);
        set(nullTtl, options::nullTtl);
        set(ttlJitter, options::ttlJitter);
        set(staleWindow, options::staleWindow);
        set(refreshAhead, options::refreshAhead);
        set(nearTtl, options::nearTtl);
        set(loadLease, options::loadLease);
        set(loadWaitTimeout, options::loadWaitTimeout);
        set(updateLease, options::updateLease);
        set(reload, options::reload);
        options.staleOnError(staleOnErrorOptions());
        if (Boolean.TRUE.equals(serial)) {
            options.serial(serialOptions());
        }
        return options.build();
    }

    private @Nullable StaleOnErrorOptions staleOnErrorOptions() {
        StaleOnErrorOptions options = staleOnErrorOptions(staleOnError);
        if (options == null) {
            return null;
        }
        options = loadSoftTimeout == null ? options : options.withLoadSoftTimeout(loadSoftTimeout);
        return loadRetryAfter == null ? options : options.withLoadRetryAfter(loadRetryAfter);
    }

    private static @Nullable StaleOnErrorOptions staleOnErrorOptions(@Nullable Duration keptFor) {
        return keptFor == null || keptFor.isZero() ? null : StaleOnErrorOptions.keptFor(keptFor);
    }

    /**
     * Checks that settings of one cache have an effect.
     *
     * @param inForce these settings over the defaults
     * @throws io.easykit.cache.InvalidCacheOptionsException if one has none
     */
    void checkUseful(CacheSettings inForce) {
        if (inForce.staleOnError == null && loadSoftTimeout != null) {
            throw StaleOnErrorOptions.needsTime("load-soft-timeout");
        }
        if (inForce.staleOnError == null && loadRetryAfter != null) {
            throw StaleOnErrorOptions.needsTime("load-retry-after");
        }
    }

    private SerialOptions serialOptions() {
        SerialOptions options = SerialOptions.defaults();
        options = serialWait == null ? options : options.withMaxWait(serialWait);
        return serialQueue == null ? options : options.withMaxQueue(serialQueue);
    }

    /** Names of settings that have no effect, because the cache is not serial. */
    public List<String> uselessOver(@Nullable CacheSettings defaults) {
        CacheSettings inForce = defaults == null ? this : over(defaults);
        return Boolean.TRUE.equals(inForce.serial)
                ? List.of()
                : Stream.of("serial-wait", "serial-queue").filter(this::isSet).toList();
    }

    /**
     * Returns one check for each setting, which throws if the setting is invalid regardless of the others. They use
     * CP, so that the stale window is not compared with the TTL. Settings that CP refuses are checked under AP.
     */
    public List<Runnable> checks() {
        return List.of(
                () -> with(ttl, null, null, null, null, null, null, null),
                () -> with(null, nullTtl, null, null, null, null, null, null),
                () -> with(null, null, ttlJitter, null, null, null, null, null),
                () -> with(null, null, null, staleWindow, null, null, null, null),
                () -> with(null, null, null, null, refreshAhead, null, null, null),
                () -> with(null, null, null, null, null, loadLease, null, null),
                () -> with(null, null, null, null, null, null, loadWaitTimeout, null),
                () -> with(null, null, null, null, null, null, null, updateLease),
                () -> CacheOptions.builder()
                        .nearTtl(nearTtl == null ? Duration.ZERO : nearTtl)
                        .build(),
                () -> staleOnErrorOptions(staleOnError),
                () -> set(loadSoftTimeout, ANY_KEPT::withLoadSoftTimeout),
                () -> set(loadRetryAfter, ANY_KEPT::withLoadRetryAfter),
                () -> set(serialWait, SerialOptions.defaults()::withMaxWait),
                () -> set(serialQueue, SerialOptions.defaults()::withMaxQueue));
    }

    private static void with(
            @Nullable Duration ttl,
            @Nullable Duration nullTtl,
            @Nullable Double ttlJitter,
            @Nullable Duration staleWindow,
            @Nullable Duration refreshAhead,
            @Nullable Duration loadLease,
            @Nullable Duration loadWaitTimeout,
            @Nullable Duration updateLease) {
        new CacheSettings(
                        Consistency.CP,
                        ttl,
                        nullTtl,
                        ttlJitter,
                        staleWindow,
                        refreshAhead,
                        null,
                        loadLease,
                        loadWaitTimeout,
                        updateLease,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null)
                .toOptions();
    }

    private static <T> @Nullable T first(@Nullable T one, @Nullable T other) {
        return one != null ? one : other;
    }

    private static <T> void set(@Nullable T value, Consumer<T> option) {
        if (value != null) {
            option.accept(value);
        }
    }
}
