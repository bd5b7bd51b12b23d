package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.redis.Model.Violation;
import io.easykit.cache.redis.NearModel.Fault;
import io.easykit.cache.redis.NearWorld.Reader;
import io.easykit.cache.redis.NearWorld.Updater;
import io.easykit.test.RedisServer;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves the staleness bound of the near level: the shipped scripts on a real Redis through all interleavings of the readers
 * of one node, whose near level they share, and updaters on that node and elsewhere.
 */
class NearLevelCheckerTests {

    private static final Logger log = LoggerFactory.getLogger(NearLevelCheckerTests.class);

    /** Sets the first seed of the random schedules, to repeat a run. */
    private static final String SEED = "easykit.checker.seed";

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
     * @param window stale window in ticks
     * @param nearTtl in ticks
     * @param reads how many reads each of the readers does
     */
    record Scenario(int window, int nearTtl, Updates updates, List<Integer> reads, int lastTick) {}

    @SuppressWarnings("ImmutableEnumChecker") // lists are copied and never changed
    enum Updates {
        HERE(Updater.resting("u", true, true, 1)),
        ELSEWHERE(Updater.resting("u", false, true, 1)),
        INVALIDATION_HERE(Updater.resting("u", true, false, 1)),
        INVALIDATION_ELSEWHERE(Updater.resting("u", false, false, 1)),
        TWO_ELSEWHERE(Updater.resting("u", false, true, 2)),
        TWO_HERE(Updater.resting("u", true, true, 2)),
        HERE_AND_ELSEWHERE(Updater.resting("u", true, true, 1), Updater.resting("w", false, false, 1));

        private final List<Updater> updaters;

        Updates(Updater... updaters) {
            this.updaters = List.of(updaters);
        }
    }

    static Stream<Scenario> noInterleavingViolatesTheBound() {
        return Stream.concat(
                Stream.of(
                        new Scenario(1, 2, Updates.INVALIDATION_HERE, List.of(1, 1), 3),
                        new Scenario(1, 2, Updates.ELSEWHERE, List.of(1, 1), 3)),
                Stream.of(Updates.HERE, Updates.ELSEWHERE, Updates.INVALIDATION_HERE, Updates.INVALIDATION_ELSEWHERE)
                        .flatMap(updates -> Stream.of(
                                new Scenario(2, 1, updates, List.of(2), 5),
                                new Scenario(1, 2, updates, List.of(3), 5))));
    }

    @ParameterizedTest
    @MethodSource
    void noInterleavingViolatesTheBound(Scenario scenario) {
        explore(scenario, false);
    }

    static Stream<Scenario> aHintThatHasArrivedLeavesNothingOlder() {
        return Stream.of(
                new Scenario(1, 2, Updates.INVALIDATION_ELSEWHERE, List.of(1, 1), 2),
                new Scenario(1, 2, Updates.ELSEWHERE, List.of(2), 3));
    }

    @ParameterizedTest
    @MethodSource
    void aHintThatHasArrivedLeavesNothingOlder(Scenario scenario) {
        explore(scenario, true);
    }

    static Stream<Scenario> noLongInterleavingViolatesTheBound() {
        return Stream.concat(
                Stream.of(Updates.HERE, Updates.ELSEWHERE, Updates.INVALIDATION_HERE, Updates.INVALIDATION_ELSEWHERE)
                        .map(updates -> new Scenario(1, 2, updates, List.of(2, 1), 4)),
                Stream.of(Updates.TWO_HERE, Updates.TWO_ELSEWHERE, Updates.HERE_AND_ELSEWHERE)
                        .flatMap(updates -> Stream.of(
                                new Scenario(1, 2, updates, List.of(3), 5),
                                new Scenario(2, 1, updates, List.of(1, 1), 2))));
    }

    @Tag("heavy")
    @ParameterizedTest
    @MethodSource
    void noLongInterleavingViolatesTheBound(Scenario scenario) {
        explore(scenario, false);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void noRandomScheduleViolatesTheBound(int nearTtl) {
        walk(nearTtl, 20, false);
    }

    @Tag("heavy")
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void noneOfManyRandomSchedulesViolatesTheBound(int nearTtl) {
        walk(nearTtl, 1000, true);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"NONE"})
    void findsTheFaultOfAWeakenedNearLevel(Fault fault) {
        boolean hinted = fault == Fault.HINTS_WITHOUT_STAMP;
        boolean own = fault == Fault.FILLS_WITHOUT_STAMP || fault == Fault.LEAVES_BEFORE_COMMANDS_ONLY;
        boolean rejected = fault == Fault.KEEPS_REJECTED_VALUES;
        Updates updates = rejected ? Updates.TWO_ELSEWHERE : own ? Updates.INVALIDATION_HERE : Updates.ELSEWHERE;
        Scenario scenario = new Scenario(2, 2, updates, List.of(3), 6);
        assertThatExceptionOfType(Violation.class)
                .isThrownBy(() -> new Explorer<>(model(scenario, hinted, fault)).visitAll(start(scenario, fault)))
                .withMessageContaining(
                        hinted ? "of which a hint has arrived" : own ? "older than an own update" : "which is too old")
                .satisfies(violation -> log.info("{}: {}", fault, violation.getMessage()));
    }

    private static NearModel model(Scenario scenario, boolean hints, Fault fault) {
        return new NearModel(laboratory, scenario.window, scenario.nearTtl, scenario.lastTick, hints, fault);
    }

    private static NearWorld start(Scenario scenario, Fault fault) {
        return model(scenario, false, fault).warm(readers(scenario.reads), scenario.updates.updaters);
    }

    private static void explore(Scenario scenario, boolean hints) {
        long began = System.nanoTime();
        Explorer<NearWorld> explorer = new Explorer<>(model(scenario, hints, Fault.NONE));
        explorer.visitAll(start(scenario, Fault.NONE));
        assertThat(explorer.states()).isGreaterThan(1000);
        log.info(
                "{}, hints {}: {} states, {} ms",
                scenario,
                hints,
                explorer.states(),
                (System.nanoTime() - began) / 1_000_000);
    }

    /** @param remember whether the schedules share results of scripts, so that many need a tenth of the runs */
    private static void walk(int nearTtl, int schedules, boolean remember) {
        long seed = Long.getLong(SEED, System.nanoTime());
        log.info("Random schedules: repeat with -D{}={}", SEED, seed);
        try (Laboratory own = new Laboratory(RedisServer.shared(), ScriptTexts.shipped(), remember)) {
            NearModel model = new NearModel(own, 2, nearTtl, 30, true, Fault.NONE);
            NearWorld start = model.warm(
                    readers(List.of(12, 12, 12)),
                    List.of(
                            Updater.resting("u", true, true, 3),
                            Updater.resting("v", true, false, 2),
                            Updater.resting("w", false, true, 3),
                            Updater.resting("x", false, false, 2)));
            Random random = new Random(seed);
            Explorer<NearWorld> explorer = new Explorer<>(model);
            for (int i = 0; i < schedules; i++) {
                explorer.walk(start, random);
            }
            log.info("near TTL {}: {} random schedules, {} steps", nearTtl, schedules, explorer.states());
        }
    }

    private static List<Reader> readers(List<Integer> reads) {
        return IntStream.range(0, reads.size())
                .mapToObj(i -> Reader.resting(String.valueOf((char) ('A' + i)), reads.get(i)))
                .toList();
    }
}
