package io.easykit.cache.autoconfigure;

import io.easykit.boot.CheckedSettings;
import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.Problem;
import io.easykit.boot.SettingChecks;
import io.easykit.cache.AvailabilityOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.aop.CacheSettings;
import io.easykit.cache.aop.CacheSettingsTable;
import io.easykit.cache.redis.RedisEntryStore;
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
 * @param enabled whether annotated methods are cached at all; without it they just run
 * @param keyPrefix start of every key in Redis; another for each application that shares the Redis
 * @param commandTimeout how long a call waits for an answer of Redis before it goes on without
 * @param defaults settings of all caches, where an annotation says nothing
 * @param caches settings of single caches by their prefix, in brackets where it has dots or colons; they win over the
 *     annotation
 * @param externalPrefixes prefixes that other applications cache; every other prefix of an update must have a cache
 *     here
 * @param local the level in this JVM that answers while Redis is away
 * @param clusters further Redis servers by the id that annotations name, each with the settings of {@code spring.data.redis}
 * @param availability when a Redis counts as ill and when as well again
 * @param degraded what happens while a Redis is away
 * @param transactions where loads run whose caller holds a transaction or a connection of the database
 * @param outbox where updates are recorded of which Redis cannot be told before their commit
 * @param jdbc the outbox in a database
 * @param requireRedisAtStart whether the start fails if a Redis does not answer; otherwise the application starts
 *     without and recovers by itself
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
        @DefaultValue Map<String, DataRedisProperties> clusters,
        @DefaultValue Availability availability,
        @DefaultValue Degraded degraded,
        @DefaultValue Transactions transactions,
        @DefaultValue("none") OutboxType outbox,
        @DefaultValue Jdbc jdbc,
        @DefaultValue("false") boolean requireRedisAtStart)
        implements CheckedSettings {

    @Override
    public List<Problem> problems() {
        SettingChecks checks = new SettingChecks("easy-cache.");
        checks.keyPrefix(RedisEntryStore.isKeyPrefix(keyPrefix), keyPrefix, "${spring.application.name}:ec:");
        checks.commandTimeout(commandTimeout);
        checks.that(
                !clusters.containsKey(CacheSpec.DEFAULT_CLUSTER),
                "clusters",
                "about a cluster '" + CacheSpec.DEFAULT_CLUSTER + "', which is the application's own Redis",
                "Set that one under spring.data.redis, or choose another name.");
        checks.add(defaultsProblems());
        caches.forEach((prefix, settings) -> checks.add(cacheProblems(prefix, settings)));
        clusters.forEach((id, settings) -> checks.add(ClusterSettings.problems(id, settings)));
        return checks.problems();
    }

    private List<Problem> defaultsProblems() {
        return defaults == null ? List.of() : OptionChecks.problems("easy-cache.defaults.", defaults.checks());
    }

    private static List<Problem> cacheProblems(String prefix, CacheSettings settings) {
        return OptionChecks.problems(SettingChecks.element("easy-cache.caches", prefix) + ".", settings.checks());
    }

    static Problem noOutbox() {
        return Problem.setting(
                "easy-cache.outbox",
                "jdbc, but there is no DataSource or spring-boot-jdbc is not on the class path",
                "Add spring-boot-starter-jdbc (or -data-jpa) and a DataSource, or leave the setting out.");
    }

    DegradedOptions degradedOptions() {
        return new DegradedOptions(
                local.ttl(),
                degraded.concurrentLoads(),
                degraded.cpReads(),
                degraded.cpUpdates(),
                degraded.apUpdates(),
                degraded.journalSize());
    }

    CacheSettingsTable table() {
        return new CacheSettingsTable(
                keyPrefix, defaults == null ? CacheSettings.NONE : defaults, caches, externalPrefixes);
    }

    /** Without the caches that have a wrong setting, so that these are not reported again with each annotation. */
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
     * When a Redis counts as ill and when as well again.
     *
     * @param window over which calls are counted
     * @param failureRate which part of them must have failed
     * @param minimumCalls how many there must be before the rate says anything
     * @param probeInterval how often an unavailable Redis is probed, and an available one asked for raised epochs: one
     *     second at the most
     * @param probesToRecover how many probes in a row must succeed
     */
    record Availability(
            @DefaultValue("10s") Duration window,
            @DefaultValue("0.5") double failureRate,
            @DefaultValue("10") int minimumCalls,
            @DefaultValue("1s") Duration probeInterval,
            @DefaultValue("3") int probesToRecover) {

        Availability {
            AvailabilityOptions some = AvailabilityOptions.defaults();
            String prefix = "easy-cache.availability.";
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
            new AvailabilityOptions(window, rate, calls, interval, probes);
        }

        AvailabilityOptions options() {
            return new AvailabilityOptions(window, failureRate, minimumCalls, probeInterval, probesToRecover);
        }
    }

    /**
     * What happens while a Redis is away.
     *
     * @param concurrentLoads how many loads may run at a time, so that the database survives; further readers wait
     * @param cpReads what a CP reader gets: what it loads itself (bypass), or an exception (fail)
     * @param cpUpdates what becomes of a CP update that cannot be announced before its commit
     * @param apUpdates what becomes of an AP update that cannot be announced before its commit
     * @param journalSize how many keys' undelivered invalidations are remembered one by one; beyond it whole prefixes are
     *     invalidated
     */
    record Degraded(
            @DefaultValue("32") int concurrentLoads,
            @DefaultValue("bypass") DegradedOptions.CpReads cpReads,
            @DefaultValue("refuse") DegradedOptions.CpUpdates cpUpdates,
            @DefaultValue("proceed") DegradedOptions.ApUpdates apUpdates,
            @DefaultValue("10000") int journalSize) {

        Degraded {
            Duration life = Duration.ofSeconds(1);
            String prefix = "easy-cache.degraded.";
            List<Runnable> attempts = List.of(
                    () -> new DegradedOptions(life, concurrentLoads, cpReads, cpUpdates, apUpdates, 1),
                    () -> new DegradedOptions(life, 1, cpReads, cpUpdates, apUpdates, journalSize));
            new SettingChecks(prefix)
                    .add(OptionChecks.problems(prefix, attempts))
                    .complete();
        }
    }

    /**
     * Where loads run whose caller holds a transaction or a connection of the database.
     *
     * @param readOnlyLoads where a load runs that is called inside a read-only transaction
     * @param extraConnections maximum number of loads at a time that take a further connection of a pool, because their
     *     caller holds one; half of the pool by default. Less than the size of the pool
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

    /** Where a load runs that is called inside a read-only transaction. */
    enum ReadOnlyLoads {
        /** Outside the transaction, on a connection of its own. Its value is cached. */
        SEPARATE,
        /** In the transaction. Its value is not cached. */
        ATTACHED
    }

    /** Where updates are recorded of which Redis cannot be told before their commit. */
    enum OutboxType {
        /** In this node's memory: lost if it dies before Redis is back. */
        NONE,
        /** In a table of the application's database. */
        JDBC
    }

    /**
     * The outbox in a database.
     *
     * @param initializeSchema when the table is created
     * @param schema script that creates it; {@code @@platform@@} in it stands for the platform
     * @param platform which script is run; null to detect the database
     */
    record Jdbc(
            @DefaultValue("embedded") SchemaMode initializeSchema,
            @DefaultValue("classpath:io/easykit/cache/jdbc/schema-@@platform@@.sql") String schema,
            @Nullable String platform) {}

    /** When the table is created, as with Boot's own starters. */
    enum SchemaMode {
        EMBEDDED,
        ALWAYS,
        NEVER
    }

    /**
     * The level in this JVM.
     *
     * @param maximumSize how many entries it keeps for each Redis; 0 switches it off
     * @param ttl how old what it answers may be
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
                            "1ms to ten years, for example 5s; maximum-size 0 switches it off")
                    .complete();
        }
    }
}
