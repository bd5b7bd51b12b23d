package io.easykit.cache.autoconfigure;

import io.easykit.boot.CheckedSettings;
import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.Problem;
import io.easykit.boot.SchemaMode;
import io.easykit.boot.SettingChecks;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.aop.CacheSettings;
import io.easykit.cache.aop.CacheSettingsTable;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.cache.transaction.ReadOnlyLoads;
import io.easykit.redis.KeyPrefix;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;

/**
 * Settings of easy-cache.
 *
 * @param enabled Whether annotated methods are cached. If false, they run uncached, Redis is not used, and updates
 *     invalidate nothing.
 * @param keyPrefix Prefix of all keys in Redis, 1 to 64 letters, digits and characters of . _ : / -. Use another one
 *     for each application that shares the Redis.
 * @param commandTimeout Maximum time to wait for a reply from Redis, from 1ms to 1h. After it a call bypasses the
 *     cache.
 * @param defaults Settings of all caches. Annotation attributes and the settings of a cache override them.
 * @param caches Settings of single caches by prefix, which override the annotation. By default there are none. Put a
 *     prefix with dots or colons in brackets.
 * @param externalPrefixes Prefixes that only other applications cache. Every other prefix of an @UpdateCache needs a
 *     cache in this application. By default there are none.
 * @param local Cache level in this JVM, used while Redis is unavailable.
 * @param near Cache level in this JVM in front of Redis, for caches with a near-ttl.
 * @param clusters Further Redis clusters by the id used in annotations. Each has the settings of spring.data.redis. By
 *     default there are none.
 * @param circuitBreaker Detection of an unavailable Redis and of its recovery.
 * @param degraded Behaviour while a Redis is unavailable.
 * @param transactions Loads of callers that hold a transaction or a database connection.
 * @param outbox Store for updates that cannot be sent to Redis before their commit: none keeps them in memory until
 *     this node reaches Redis again, jdbc also records them in the application's database.
 * @param jdbc Outbox in a database.
 * @param springCache Spring's own cache annotations.
 * @param requireRedisAtStart Whether the start fails if a Redis does not reply. If false, the application starts
 *     without Redis and recovers by itself.
 */
@ConfigurationProperties(prefix = "easy-cache", ignoreUnknownFields = false)
record EasyCacheProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue(RedisEntryStore.DEFAULT_KEY_PREFIX) String keyPrefix,
        @DefaultValue("250ms") Duration commandTimeout,
        @NestedConfigurationProperty @Nullable CacheSettings defaults,
        @DefaultValue Map<String, CacheSettings> caches,
        @DefaultValue Set<String> externalPrefixes,
        @DefaultValue Local local,
        @DefaultValue Near near,
        @DefaultValue Map<String, DataRedisProperties> clusters,
        @DefaultValue CircuitBreaker circuitBreaker,
        @DefaultValue Degraded degraded,
        @DefaultValue Transactions transactions,
        @DefaultValue("none") OutboxType outbox,
        @DefaultValue Jdbc jdbc,
        @DefaultValue SpringCache springCache,
        @DefaultValue("false") boolean requireRedisAtStart)
        implements CheckedSettings {

    @Override
    public List<Problem> problems() {
        SettingChecks checks = new SettingChecks("easy-cache.");
        checks.keyPrefix(KeyPrefix.isUsable(keyPrefix), keyPrefix, "${spring.application.name}:ec:");
        checks.commandTimeout(commandTimeout);
        checks.that(
                !clusters.containsKey(CacheSpec.DEFAULT_CLUSTER),
                "clusters",
                "about a cluster '" + CacheSpec.DEFAULT_CLUSTER + "', which is the application's own Redis",
                "Configure that Redis under spring.data.redis, or choose another name.");
        checks.add(defaultsProblems());
        caches.forEach((prefix, settings) -> checks.add(cacheProblems(prefix, settings)));
        caches.forEach((prefix, settings) -> checks.add(uselessSettings(prefix, settings)));
        clusters.forEach((id, settings) -> checks.add(ClusterSettings.problems(id, settings)));
        return checks.problems();
    }

    private List<Problem> defaultsProblems() {
        return defaults == null ? List.of() : OptionChecks.problems("easy-cache.defaults.", defaults.checks());
    }

    private static List<Problem> cacheProblems(String prefix, CacheSettings settings) {
        return OptionChecks.problems(SettingChecks.element("easy-cache.caches", prefix) + ".", settings.checks());
    }

    private List<Problem> uselessSettings(String prefix, CacheSettings settings) {
        String cache = SettingChecks.element("easy-cache.caches", prefix) + ".";
        return settings.uselessOver(defaults).stream()
                .map(name -> new Problem(
                        "The setting " + cache + name + " has no effect, because the cache is not serial.",
                        "Set " + cache + "serial to true, or remove it."))
                .toList();
    }

    static Problem noOutbox() {
        return Problem.setting(
                "easy-cache.outbox",
                "jdbc, but there is no DataSource or spring-boot-jdbc is not on the class path",
                "Add spring-boot-starter-jdbc (or -data-jpa) and a DataSource, or remove the setting.");
    }

    DegradedOptions degradedOptions() {
        return new DegradedOptions(
                local.ttl(),
                degraded.concurrentLoads(),
                degraded.cpReads(),
                degraded.cpUpdates(),
                degraded.apUpdates(),
                degraded.maxPendingInvalidations());
    }

    CacheSettingsTable table() {
        return new CacheSettingsTable(
                keyPrefix, defaults == null ? CacheSettings.NONE : defaults, caches, externalPrefixes);
    }

    /** Returns the valid settings only, so that errors are not reported again for each annotation. */
    CacheSettingsTable usableTable() {
        Map<String, CacheSettings> usable = new HashMap<>(caches);
        caches.forEach((prefix, settings) -> {
            if (!cacheProblems(prefix, settings).isEmpty()) {
                usable.remove(prefix);
            }
        });
        return new CacheSettingsTable(
                keyPrefix,
                defaults == null || !defaultsProblems().isEmpty() ? CacheSettings.NONE : defaults,
                usable,
                externalPrefixes);
    }

    /**
     * Detection of an unavailable Redis and of its recovery.
     *
     * @param window Time window over which calls are counted, from 100ms to 1d.
     * @param failureRate Share of failed calls, above 0 and up to 1, at which a Redis becomes unavailable.
     * @param minimumCalls Minimum number of calls in the window before the failure rate is evaluated, 1 or more.
     * @param probeInterval Interval of probes of an unavailable Redis, and of maintenance of an available one, from 1ms
     *     to 1s.
     * @param probesToRecover Number of successful probes in a row after which a Redis is available again, 1 or more. As
     *     many failed ones make it unavailable.
     */
    record CircuitBreaker(
            @DefaultValue("10s") Duration window,
            @DefaultValue("0.5") double failureRate,
            @DefaultValue("10") int minimumCalls,
            @DefaultValue("1s") Duration probeInterval,
            @DefaultValue("3") int probesToRecover) {

        CircuitBreaker {
            CircuitBreakerOptions some = CircuitBreakerOptions.defaults();
            String prefix = "easy-cache.circuit-breaker.";
            List<Runnable> attempts = List.of(
                    () -> with(window, some.failureRate(), 1, some.probeInterval(), 1),
                    () -> with(some.window(), failureRate, 1, some.probeInterval(), 1),
                    () -> with(some.window(), some.failureRate(), minimumCalls, some.probeInterval(), 1),
                    () -> with(some.window(), some.failureRate(), 1, probeInterval, 1),
                    () -> with(some.window(), some.failureRate(), 1, some.probeInterval(), probesToRecover));
            new SettingChecks(prefix)
                    .add(OptionChecks.problems(prefix, attempts))
                    .complete();
        }

        private static void with(Duration window, double rate, int calls, Duration interval, int probes) {
            new CircuitBreakerOptions(window, rate, calls, interval, probes);
        }

        CircuitBreakerOptions options() {
            return new CircuitBreakerOptions(window, failureRate, minimumCalls, probeInterval, probesToRecover);
        }
    }

    /**
     * Behaviour while a Redis is unavailable.
     *
     * @param concurrentLoads Maximum number of loads at a time while Redis is unavailable, and of loads by readers whose
     *     waiting time is over, 1 to 1000000. Further readers wait. Set it to the capacity of the database.
     * @param cpReads Result of a cp read while Redis is unavailable: bypass loads the value without caching it, fail
     *     throws an exception.
     * @param cpUpdates Result of a cp update that cannot be marked in Redis before its commit: refuse throws an
     *     exception, proceed accepts stale reads on other nodes until the invalidation is delivered.
     * @param apUpdates Result of an ap update that cannot be marked in Redis before its commit: proceed accepts stale
     *     reads on other nodes until the invalidation is delivered, refuse throws an exception.
     * @param maxPendingInvalidations Maximum number of keys with undelivered invalidations kept in memory, 1 or more. Beyond it
     *     whole prefixes are invalidated. Also the maximum number of updates with a clearing that wait for a delivery to end a
     *     second time.
     */
    record Degraded(
            @DefaultValue("32") int concurrentLoads,
            @DefaultValue("bypass") DegradedOptions.CpReads cpReads,
            @DefaultValue("refuse") DegradedOptions.CpUpdates cpUpdates,
            @DefaultValue("proceed") DegradedOptions.ApUpdates apUpdates,
            @DefaultValue("10000") int maxPendingInvalidations) {

        Degraded {
            Duration life = Duration.ofSeconds(1);
            String prefix = "easy-cache.degraded.";
            List<Runnable> attempts = List.of(
                    () -> new DegradedOptions(life, concurrentLoads, cpReads, cpUpdates, apUpdates, 1),
                    () -> new DegradedOptions(life, 1, cpReads, cpUpdates, apUpdates, maxPendingInvalidations));
            new SettingChecks(prefix)
                    .add(OptionChecks.problems(prefix, attempts))
                    .complete();
        }
    }

    /**
     * Loads of callers that hold a transaction or a database connection.
     *
     * @param readOnlyLoads Place of a load inside a read-only transaction: separate runs it on another connection and
     *     caches the value, attached runs it in the transaction and does not cache the value.
     * @param extraConnections Maximum number of loads at a time that take a further connection of a pool because their
     *     caller holds one, 0 or more and less than the size of the pool. By default half of the pool. Set it if Spring
     *     Boot cannot determine the size of the pool.
     */
    record Transactions(@DefaultValue("separate") ReadOnlyLoads readOnlyLoads, @Nullable Integer extraConnections) {

        Transactions {
            if (extraConnections != null && extraConnections < 0) {
                throw new InvalidConfigurationException(Problem.setting(
                        "easy-cache.transactions.extra-connections",
                        extraConnections,
                        "Choose a number of connections below the size of the pool, or 0 for none."));
            }
        }
    }

    /** Store for updates that cannot be sent to Redis before their commit. */
    enum OutboxType {
        /** Memory of this node: lost if the process dies before Redis is available again. */
        NONE,
        /** A table of the application's database. */
        JDBC
    }

    /**
     * Outbox in a database.
     *
     * @param initializeSchema Condition for creating the outbox table: embedded (in-memory databases only), always or
     *     never.
     * @param schema Location of the script that creates the outbox table, with @@platform@@ in place of the platform.
     * @param platform Platform of the script: h2, mysql, mariadb or postgresql. By default it is detected.
     */
    record Jdbc(
            @DefaultValue("embedded") SchemaMode initializeSchema,
            @DefaultValue("classpath:io/easykit/cache/jdbc/schema-@@platform@@.sql") String schema,
            @Nullable String platform) {}

    /**
     * Spring's own cache annotations.
     *
     * @param enabled Whether Spring's cache annotations use this cache. The application also needs @EnableCaching.
     * @param primary Whether they use this cache although the application has another CacheManager.
     * @param allowNullValues Whether a null value is cached, for the null-ttl of its cache.
     */
    record SpringCache(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("false") boolean primary,
            @DefaultValue("true") boolean allowNullValues) {}

    /**
     * Cache level in this JVM in front of Redis, for caches with a near-ttl.
     *
     * @param maximumSize Maximum number of entries for each Redis, shared by all caches with a near-ttl. 0 disables the
     *     near level.
     * @param hints Whether updates of caches with a near-ttl are published on the Redis channel near after the key prefix, so
     *     that other nodes remove the entry at once. If false, they may return it for the near-ttl.
     */
    record Near(@DefaultValue("10000") long maximumSize, @DefaultValue("false") boolean hints) {

        Near {
            new SettingChecks("easy-cache.near.")
                    .that(maximumSize >= 0, "maximum-size", maximumSize, "Choose a number of entries, or 0 for none.")
                    .complete();
        }
    }

    /**
     * Cache level in this JVM, used while Redis is unavailable.
     *
     * @param maximumSize Maximum number of entries for each Redis. 0 disables the local level.
     * @param ttl Maximum age of a value returned by the local level, from 1ms to 3650d.
     */
    record Local(@DefaultValue("10000") long maximumSize, @DefaultValue("5s") Duration ttl) {

        private static final Duration LONGEST_LIFE = Duration.ofDays(3650);

        Local {
            new SettingChecks("easy-cache.local.")
                    .that(maximumSize >= 0, "maximum-size", maximumSize, "Choose a number of entries, or 0 for none.")
                    .duration(
                            "ttl",
                            ttl,
                            Duration.ofMillis(1),
                            LONGEST_LIFE,
                            "1ms to ten years, for example 5s; a maximum-size of 0 disables it")
                    .complete();
        }
    }
}
