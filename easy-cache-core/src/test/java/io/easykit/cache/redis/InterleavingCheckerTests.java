package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.easykit.cache.Consistency;
import io.easykit.cache.redis.Model.Violation;
import io.easykit.cache.redis.World.Updater;
import io.easykit.test.RedisServer;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves the protocol by trying everything: the shipped scripts on a real Redis, and the shipped hit rule, through all
 * interleavings of a few readers and updaters with crashes, rollbacks, lost replies, expiry and ticks of the clock.
 *
 * <p>{@link Model} has the steps of the processes and the invariants; {@link Laboratory} runs the scripts; {@link Explorer}
 * visits every state that can be reached. A violation comes with the shortest schedule that leads to it.
 *
 * <p>Every build explores each kind of update with one read of each reader and few ticks, and finds every weakness: a
 * protocol with one idea less. {@code ./mvnw -Pheavy verify} explores more ticks, reads, and lost replies, and more random
 * schedules.
 */
class InterleavingCheckerTests {

    private static final Logger log = LoggerFactory.getLogger(InterleavingCheckerTests.class);

    /** Sets the first seed of the random schedules, to repeat a run. */
    private static final String SEED = "easykit.checker.seed";

    /** Random schedules of the heavy run, for AP and for CP each. */
    private static final int SCHEDULES = Integer.getInteger("easykit.checker.schedules", 100_000);

    private static Laboratory laboratory;

    @BeforeAll
    static void open() {
        laboratory = new Laboratory(RedisServer.shared(), ScriptTexts.shipped(), true);
    }

    @AfterAll
    static void close() {
        laboratory.close();
    }

    /**
     * One exploration.
     *
     * @param reads how many reads each of the two readers does
     * @param repeats how many commands may be executed twice
     * @param versions whether the readers run one version of the application, or two
     * @param keeps whether expired values are kept for readers whose load fails
     */
    record Scenario(
            Consistency consistency,
            Start start,
            Updates updates,
            int reads,
            int repeats,
            int lastTick,
            Versions versions,
            boolean keeps) {

        Scenario(
                Consistency consistency,
                Start start,
                Updates updates,
                int reads,
                int repeats,
                int lastTick,
                Versions versions) {
            this(consistency, start, updates, reads, repeats, lastTick, versions, false);
        }

        /** Entries outlive their values, and loads may fail. */
        static Scenario keeping(Start start, Updates updates, int reads, int repeats, int lastTick, Versions versions) {
            return new Scenario(Consistency.AP, start, updates, reads, repeats, lastTick, versions, true);
        }

        Scenario(Consistency consistency, Start start, Updates updates, int reads, int repeats, int lastTick) {
            this(consistency, start, updates, reads, repeats, lastTick, Versions.ONE);
        }

        List<World.Reader> readers() {
            return versions == Versions.ONE ? Model.readers(2, reads) : Model.readersOfTwoVersions(reads);
        }
    }

    enum Versions {
        ONE,
        /** As while a deployment rolls. */
        TWO
    }

    enum Start {
        COLD,
        WARM
    }

    @SuppressWarnings("ImmutableEnumChecker") // lists are copied and never changed
    enum Updates {
        ONE(Updater.preparing("u", 1)),
        /** By one updater. */
        TWO_IN_A_ROW(Updater.preparing("u", 2)),
        /** By two updaters. */
        TWO_AT_ONCE(Updater.preparing("u", 1), Updater.preparing("w", 1)),
        /** Without a preparation: the data change, then they are invalidated. */
        INVALIDATION(Updater.invalidatingOnly("u", 1)),
        INVALIDATION_BESIDE_ONE(Updater.invalidatingOnly("u", 1), Updater.preparing("w", 1));

        private final List<Updater> updaters;

        Updates(Updater... updaters) {
            this.updaters = List.of(updaters);
        }
    }

    @ParameterizedTest
    @MethodSource
    void noInterleavingViolatesTheInvariants(Scenario scenario) {
        explore(laboratory, HitRule.shipped(), scenario);
    }

    static Stream<Scenario> noInterleavingViolatesTheInvariants() {
        return all(
                new Scenario(null, null, Updates.ONE, 1, 0, 3),
                new Scenario(null, null, Updates.ONE, 1, 1, 2),
                new Scenario(null, null, Updates.TWO_IN_A_ROW, 1, 0, 2),
                new Scenario(null, null, Updates.TWO_AT_ONCE, 1, 0, 1),
                new Scenario(null, null, Updates.INVALIDATION, 1, 1, 3),
                new Scenario(null, null, Updates.INVALIDATION_BESIDE_ONE, 1, 0, 1));
    }

    @ParameterizedTest
    @MethodSource
    void noInterleavingOfTwoVersionsViolatesTheInvariants(Scenario scenario) {
        explore(laboratory, HitRule.shipped(), scenario);
    }

    static Stream<Scenario> noInterleavingOfTwoVersionsViolatesTheInvariants() {
        return all(
                new Scenario(null, null, Updates.ONE, 1, 0, 3, Versions.TWO),
                new Scenario(null, null, Updates.ONE, 1, 1, 1, Versions.TWO),
                new Scenario(null, null, Updates.INVALIDATION, 1, 1, 2, Versions.TWO),
                new Scenario(null, null, Updates.INVALIDATION_BESIDE_ONE, 1, 0, 1, Versions.TWO));
    }

    @Tag("heavy")
    @ParameterizedTest
    @MethodSource
    void noLongInterleavingOfTwoVersionsViolatesTheInvariants(Scenario scenario) {
        explore(laboratory, HitRule.shipped(), scenario);
    }

    static Stream<Scenario> noLongInterleavingOfTwoVersionsViolatesTheInvariants() {
        return all(
                new Scenario(null, null, Updates.TWO_AT_ONCE, 1, 0, 4, Versions.TWO),
                new Scenario(null, null, Updates.TWO_IN_A_ROW, 1, 1, 3, Versions.TWO),
                new Scenario(null, null, Updates.INVALIDATION, 2, 1, 4, Versions.TWO),
                new Scenario(null, null, Updates.INVALIDATION_BESIDE_ONE, 1, 0, 2, Versions.TWO),
                new Scenario(null, null, Updates.ONE, 2, 1, 4, Versions.TWO));
    }

    @Tag("heavy")
    @ParameterizedTest
    @MethodSource
    void noLongInterleavingViolatesTheInvariants(Scenario scenario) {
        explore(laboratory, HitRule.shipped(), scenario);
    }

    static Stream<Scenario> noLongInterleavingViolatesTheInvariants() {
        return all(
                new Scenario(null, null, Updates.TWO_AT_ONCE, 1, 0, 4),
                new Scenario(null, null, Updates.TWO_AT_ONCE, 1, 1, 2),
                new Scenario(null, null, Updates.TWO_IN_A_ROW, 1, 1, 3),
                new Scenario(null, null, Updates.INVALIDATION_BESIDE_ONE, 1, 1, 3),
                new Scenario(null, null, Updates.ONE, 1, 2, 5),
                new Scenario(null, null, Updates.ONE, 2, 1, 4));
    }

    @ParameterizedTest
    @MethodSource
    void noInterleavingWithExpiredValuesViolatesTheInvariants(Scenario scenario) {
        explore(laboratory, HitRule.shipped(), scenario);
    }

    static Stream<Scenario> noInterleavingWithExpiredValuesViolatesTheInvariants() {
        return Stream.of(
                Scenario.keeping(Start.WARM, Updates.ONE, 1, 0, 4, Versions.ONE),
                Scenario.keeping(Start.WARM, Updates.INVALIDATION, 1, 1, 4, Versions.ONE),
                Scenario.keeping(Start.WARM, Updates.INVALIDATION, 1, 0, 5, Versions.TWO),
                Scenario.keeping(Start.COLD, Updates.INVALIDATION, 1, 0, 5, Versions.ONE));
    }

    @Tag("heavy")
    @ParameterizedTest
    @MethodSource
    void noLongInterleavingWithExpiredValuesViolatesTheInvariants(Scenario scenario) {
        explore(laboratory, HitRule.shipped(), scenario);
    }

    static Stream<Scenario> noLongInterleavingWithExpiredValuesViolatesTheInvariants() {
        return Stream.of(
                Scenario.keeping(Start.WARM, Updates.ONE, 2, 0, 6, Versions.ONE),
                Scenario.keeping(Start.WARM, Updates.TWO_AT_ONCE, 1, 0, 5, Versions.ONE),
                Scenario.keeping(Start.COLD, Updates.ONE, 1, 1, 6, Versions.ONE),
                Scenario.keeping(Start.WARM, Updates.INVALIDATION, 1, 1, 6, Versions.TWO));
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void noRandomScheduleViolatesTheInvariants(Consistency consistency) {
        walk(consistency, 25, false);
    }

    @Tag("heavy")
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void noneOfManyRandomSchedulesViolatesTheInvariants(Consistency consistency) {
        walk(consistency, SCHEDULES, true);
    }

    @ParameterizedTest
    @EnumSource(Weakness.class)
    void findsTheFaultOfAWeakenedProtocol(Weakness weakness) {
        try (Laboratory weakened = new Laboratory(RedisServer.shared(), weakness.scripts, true)) {
            assertThatExceptionOfType(Violation.class)
                    .isThrownBy(() -> explore(weakened, weakness.hitRule, weakness.scenario))
                    .withMessageContaining(weakness.symptom)
                    .satisfies(violation -> log.info("{}: {}", weakness, violation.getMessage()));
        }
    }

    @Test
    void weakeningMustMatchExactlyOnce() {
        ScriptTexts shipped = ScriptTexts.shipped();
        assertThatIllegalArgumentException().isThrownBy(() -> shipped.weaken(CacheScript.STORE, "no such text", ""));
        assertThatIllegalArgumentException().isThrownBy(() -> shipped.weaken(CacheScript.STORE, "redis.call", ""));
    }

    private static void explore(Laboratory laboratory, HitRule hitRule, Scenario scenario) {
        Model model = scenario.keeps
                ? Model.thatKeepsExpiredValues(laboratory, hitRule, scenario.lastTick, false)
                : new Model(laboratory, hitRule, scenario.consistency, scenario.lastTick, false);
        Explorer<World> explorer = new Explorer<>(model);
        List<World.Reader> readers = scenario.readers();
        List<Updater> updaters = scenario.updates.updaters;
        int callsBefore = laboratory.calls();
        long began = System.nanoTime();
        explorer.visitAll(
                scenario.start == Start.WARM
                        ? model.warm(readers, updaters, scenario.repeats)
                        : model.cold(readers, updaters, scenario.repeats));
        assertThat(explorer.states()).isGreaterThan(1000);
        log.info(
                "{}: {} states, {} transitions, {} runs of a script, {} ms",
                scenario,
                explorer.states(),
                explorer.transitions(),
                laboratory.calls() - callsBefore,
                (System.nanoTime() - began) / 1_000_000);
    }

    /** @param remember whether the schedules share results of scripts, so that many need a tenth of the runs */
    private static void walk(Consistency consistency, int schedules, boolean remember) {
        long seed = Long.getLong(SEED, System.nanoTime());
        log.info("Random schedules: repeat with -D{}={}", SEED, seed);
        try (Laboratory own = new Laboratory(RedisServer.shared(), ScriptTexts.shipped(), remember)) {
            Model model = new Model(own, HitRule.shipped(), consistency, 25, true);
            Explorer<World> explorer = new Explorer<>(model);
            World start = model.warm(
                    Model.readers(3, 6),
                    List.of(Updater.preparing("u", 4), Updater.preparing("w", 4), Updater.invalidatingOnly("x", 2)),
                    10);
            Random random = new Random(seed);
            for (int i = 0; i < schedules; i++) {
                explorer.walk(start, random);
            }
            log.info(
                    "{}: {} random schedules, {} steps, {} runs of a script",
                    consistency,
                    schedules,
                    explorer.states(),
                    own.calls());
        }
    }

    private static Stream<Scenario> all(Scenario... templates) {
        return Stream.of(templates)
                .flatMap(template -> Stream.of(Consistency.values()).flatMap(consistency -> Stream.of(Start.values())
                        .map(start -> new Scenario(
                                consistency,
                                start,
                                template.updates,
                                template.reads,
                                template.repeats,
                                template.lastTick,
                                template.versions))));
    }

    /** A protocol with one idea less. */
    @SuppressWarnings("ImmutableEnumChecker") // nothing in it is ever changed
    enum Weakness {
        NO_OWNER_CHECK_IN_STORE(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.STORE,
                                "if not lease or #lease ~= 14 or string.sub(lease, 1, 8) ~= string.sub(ARGV[1], 1, 8)"
                                        + " then return 0 end",
                                ""),
                "a plain read now would hit version 0",
                new Scenario(Consistency.AP, Start.COLD, Updates.ONE, 1, 0, 3)),

        /** The holder of the load lease may serve the old value for as long as it loads. */
        ONE_FIELD_FOR_LOCK_AND_WINDOW(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.FETCH,
                                "'f', lease)",
                                "'f', lease, value and 's' or 'f', value and now + loadLease or lease)"),
                "would bring version 0",
                new Scenario(Consistency.AP, Start.WARM, Updates.ONE, 1, 0, 3)),

        WINDOW_EXTENDED_BY_EACH_UPDATE(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.INVALIDATE,
                                "staleUntil = math.min(now + window, staleUntil)",
                                "staleUntil = now + window"),
                "would bring version 0",
                new Scenario(Consistency.AP, Start.WARM, Updates.TWO_IN_A_ROW, 1, 0, 3)),

        ONE_INTENT_FOR_ALL_UPDATERS(
                ScriptTexts.shipped()
                        .weaken(CacheScript.PREPARE, "'i:' .. ARGV[1]", "'i:'")
                        .weaken(CacheScript.INVALIDATE, "'i:' .. ARGV[1]", "'i:'"),
                "version",
                new Scenario(Consistency.CP, Start.WARM, Updates.TWO_AT_ONCE, 1, 0, 3)),

        PREPARE_KEEPS_THE_FENCING_TOKEN(
                ScriptTexts.shipped().weaken(CacheScript.PREPARE, "'f', 's', 'x', unpack", "'s', 'x', unpack"),
                "version 0",
                new Scenario(Consistency.CP, Start.COLD, Updates.ONE, 1, 0, 3)),

        INVALIDATION_KEEPS_THE_FENCING_TOKEN(
                ScriptTexts.shipped().weaken(CacheScript.INVALIDATE, "'f', 'x', intent)", "'x', intent)"),
                "version 0",
                new Scenario(Consistency.AP, Start.WARM, Updates.INVALIDATION, 1, 0, 3)),

        STORE_LEAVES_LOCKS_BEHIND(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.STORE,
                                "redis.call('DEL', KEYS[1])\nredis.call('HSET'",
                                "redis.call('HSET'"),
                "a store left more than the value",
                new Scenario(Consistency.AP, Start.COLD, Updates.ONE, 1, 0, 3)),

        /** Brought back to life by a fetch that is executed twice, an old token stores an old value. */
        FENCING_TOKEN_WITHOUT_THE_SERVERS_BYTES(
                ScriptTexts.shipped().weaken(CacheScript.FETCH, "now % 4294967296", "0"),
                "version 0",
                new Scenario(Consistency.CP, Start.COLD, Updates.INVALIDATION, 1, 1, 3)),

        RELEASE_OF_ANY_LOAD_LEASE(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.RELEASE_LOAD,
                                "if redis.call('HGET', KEYS[1], 'f') ~= ARGV[1]",
                                "if string.sub(redis.call('HGET', KEYS[1], 'f') or '', 1, 8)"
                                        + " ~= string.sub(ARGV[1], 1, 8)"),
                "two readers load with one load lease",
                new Scenario(Consistency.CP, Start.COLD, Updates.ONE, 2, 0, 3)),

        LOAD_LEASE_WITHOUT_AN_EXPIRY(
                ScriptTexts.shipped()
                        .weaken(CacheScript.FETCH, "redis.pcall('PEXPIRE', KEYS[1], loadLease + keepToken)", "0"),
                "the key never expires",
                new Scenario(Consistency.CP, Start.COLD, Updates.ONE, 1, 0, 3)),

        HIT_ALTHOUGH_INVALIDATED(
                (entry, field, clock) -> entry.has(field) && !entry.has("f") ? entry.envelope(field) : null,
                "a plain read now would hit version 0",
                new Scenario(Consistency.AP, Start.WARM, Updates.ONE, 1, 0, 3)),

        /** The load lease keeps the key alive beyond the life of the value. */
        HIT_ALTHOUGH_SOMEBODY_LOADS(
                (entry, field, clock) -> entry.has(field) && !entry.has("s") ? entry.envelope(field) : null,
                "would hit an expired value",
                new Scenario(Consistency.CP, Start.WARM, Updates.ONE, 1, 0, 4)),

        VALUES_OF_ANY_VERSION(
                (entry, field, clock) -> HitRule.shipped().accepts(entry, HitRule.FIELD, clock),
                "would decode a foreign value",
                new Scenario(Consistency.AP, Start.COLD, Updates.ONE, 1, 0, 3, Versions.TWO)),

        STORE_DISPLACES_OTHER_VERSIONS(
                ScriptTexts.shipped().weaken(CacheScript.STORE, "and #fields < 8 then", "and #fields < 0 then"),
                "a store displaced a foreign value",
                new Scenario(Consistency.AP, Start.COLD, Updates.ONE, 1, 0, 3, Versions.TWO)),

        STORE_KEEPS_OTHER_VERSIONS_THAT_WERE_INVALIDATED(
                ScriptTexts.shipped().weaken(CacheScript.STORE, "invalidated and 0 or #names", "#names"),
                "version 0",
                new Scenario(Consistency.AP, Start.WARM, Updates.INVALIDATION, 1, 0, 3, Versions.TWO)),

        /** Another version's value outlives its TTL. */
        KEY_EXPIRES_WITH_THE_NEWEST_VALUE(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.STORE,
                                "math.min(expires, otherExpires)",
                                "math.max(expires, otherExpires)"),
                "a value at rest does not expire with its key",
                new Scenario(Consistency.CP, Start.COLD, Updates.ONE, 1, 0, 3, Versions.TWO)),

        PREPARE_DROPS_ONE_VERSION(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.PREPARE,
                                "'f', 's', 'x', unpack(values)",
                                "'f', 's', 'x', values[1] or 'f'"),
                "a prepared update left the value fresh",
                new Scenario(Consistency.CP, Start.WARM, Updates.ONE, 1, 0, 3, Versions.TWO)),

        INVALIDATED_VALUE_AFTER_A_FAILURE(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.PEEK,
                                "if staleUntil or entry[3] or now >= keptUntil",
                                "if now >= keptUntil"),
                "returns the expired version 0, which was invalidated",
                Scenario.keeping(Start.WARM, Updates.INVALIDATION, 1, 0, 5, Versions.ONE)),

        EXPIRED_VALUE_BEYOND_ITS_TIME(
                ScriptTexts.shipped()
                        .weaken(
                                CacheScript.PEEK,
                                "if staleUntil or entry[3] or now >= keptUntil",
                                "if staleUntil or entry[3]"),
                "although its time is over",
                Scenario.keeping(Start.WARM, Updates.INVALIDATION, 1, 0, 6, Versions.ONE)),

        /** The estimate of Redis's clock is not used. */
        HIT_ALTHOUGH_EXPIRED(
                (entry, field, clock) -> HitRule.shipped().accepts(entry, field, 0),
                "would hit an expired value",
                Scenario.keeping(Start.WARM, Updates.ONE, 1, 0, 5, Versions.ONE)),

        EXPIRED_VALUE_WITHOUT_A_MARK(
                ScriptTexts.shipped().weaken(CacheScript.STORE, "if outlives > 0 then", "if outlives < 0 then"),
                "does not expire with its key",
                Scenario.keeping(Start.WARM, Updates.ONE, 1, 0, 5, Versions.ONE)),

        /** The entry stays fresh for a node that reads it by the estimate of the clock. */
        PREPARE_LEAVES_THE_EXPIRED_VALUE_ALONE(
                ScriptTexts.shipped()
                        .weaken(CacheScript.PREPARE, "if values[1] then redis", "if values[1] and entry[1] then redis"),
                "a prepared update left the value fresh",
                Scenario.keeping(Start.WARM, Updates.ONE, 1, 0, 5, Versions.ONE));

        private final ScriptTexts scripts;
        private final HitRule hitRule;
        private final String symptom;
        private final Scenario scenario;

        Weakness(ScriptTexts scripts, String symptom, Scenario scenario) {
            this(scripts, HitRule.shipped(), symptom, scenario);
        }

        Weakness(HitRule hitRule, String symptom, Scenario scenario) {
            this(ScriptTexts.shipped(), hitRule, symptom, scenario);
        }

        Weakness(ScriptTexts scripts, HitRule hitRule, String symptom, Scenario scenario) {
            this.scripts = scripts;
            this.hitRule = hitRule;
            this.symptom = symptom;
            this.scenario = scenario;
        }
    }
}
