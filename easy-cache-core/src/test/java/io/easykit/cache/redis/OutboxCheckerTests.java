package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.Consistency;
import io.easykit.cache.redis.Model.RelayRule;
import io.easykit.cache.redis.Model.Violation;
import io.easykit.cache.redis.World.Updater;
import io.easykit.cache.redis.World.Way;
import io.easykit.test.RedisServer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outbox in the model of {@link InterleavingCheckerTests}: updaters that do not reach Redis and write messages, and a
 * relay that delivers them, through all interleavings with two readers, crashes and ticks of the clock.
 *
 * <p>The weaknesses show that the checker bites. The first is what happens without an outbox.
 */
class OutboxCheckerTests {

    private static final Logger log = LoggerFactory.getLogger(OutboxCheckerTests.class);

    private static final String DELIVERED = "version 0, although every message was delivered";

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
     * @param repeats how many commands may be executed twice
     */
    record Scenario(
            Consistency consistency, boolean warm, int readers, List<Updater> updaters, int repeats, int lastTick) {}

    @ParameterizedTest
    @MethodSource
    void everyMessageThatIsDeliveredIsSeenByAll(Scenario scenario) {
        explore(scenario, RelayRule.SHIPPED);
    }

    static Stream<Scenario> everyMessageThatIsDeliveredIsSeenByAll() {
        return Stream.of(Consistency.values())
                .flatMap(consistency -> Stream.of(
                        scenario(consistency, false, 2, 0, 1, Way.MESSAGE_IN_TRANSACTION),
                        scenario(consistency, true, 1, 1, 2, Way.MESSAGE_IN_TRANSACTION),
                        scenario(consistency, false, 1, 0, 3, Way.MESSAGE_BEFORE),
                        scenario(consistency, true, 1, 0, 3, Way.MESSAGE_BEFORE)));
    }

    @Tag("heavy")
    @ParameterizedTest
    @MethodSource
    void soItIsInLongInterleavings(Scenario scenario) {
        explore(scenario, RelayRule.SHIPPED);
    }

    static Stream<Scenario> soItIsInLongInterleavings() {
        return Stream.of(Consistency.values())
                .flatMap(consistency -> Stream.of(
                        scenario(consistency, false, 2, 0, 3, Way.MESSAGE_BEFORE),
                        scenario(consistency, true, 2, 1, 2, Way.MESSAGE_IN_TRANSACTION),
                        scenario(consistency, true, 1, 0, 2, Way.MESSAGE_IN_TRANSACTION, Way.MESSAGE_BEFORE),
                        scenario(consistency, false, 1, 0, 2, Way.MESSAGE_BEFORE, Way.PREPARING)));
    }

    @ParameterizedTest
    @EnumSource(Weakness.class)
    void findsTheFaultOfAWeakness(Weakness weakness) {
        assertThatExceptionOfType(Violation.class)
                .isThrownBy(() -> explore(weakness.scenario, weakness.rule))
                .withMessageContaining(weakness.symptom)
                .satisfies(violation -> log.info("{}: {}", weakness, violation.getMessage()));
    }

    @SuppressWarnings("ImmutableEnumChecker") // nothing in it is ever changed
    enum Weakness {
        NO_OUTBOX(DELIVERED, RelayRule.SHIPPED, scenario(Consistency.AP, true, 1, 0, 1, Way.UNTOLD)),
        MESSAGE_VISIBLE_BEFORE_THE_COMMIT(
                DELIVERED, RelayRule.SHIPPED, scenario(Consistency.CP, false, 1, 0, 2, Way.MESSAGE_TOO_EARLY)),
        OPEN_MESSAGE_DELIVERED_ONCE(
                DELIVERED,
                RelayRule.FORGETS_OPEN_MESSAGES,
                scenario(Consistency.CP, false, 1, 0, 2, Way.MESSAGE_BEFORE)),
        OLD_VALUE_LEFT_FOR_THE_WINDOW(
                "a fetch now would bring version 0",
                RelayRule.KEEPS_THE_WINDOW,
                scenario(Consistency.AP, true, 1, 0, 2, Way.MESSAGE_IN_TRANSACTION));

        private final String symptom;
        private final RelayRule rule;
        private final Scenario scenario;

        Weakness(String symptom, RelayRule rule, Scenario scenario) {
            this.symptom = symptom;
            this.rule = rule;
            this.scenario = scenario;
        }
    }

    private static Scenario scenario(
            Consistency consistency, boolean warm, int readers, int repeats, int lastTick, Way... ways) {
        List<Updater> updaters =
                Stream.of(ways).map(way -> Updater.of(way.name(), way, 1)).toList();
        return new Scenario(consistency, warm, readers, updaters, repeats, lastTick);
    }

    private static void explore(Scenario scenario, RelayRule rule) {
        Model model = new Model(laboratory, HitRule.shipped(), rule, scenario.consistency, scenario.lastTick, false);
        Explorer<World> explorer = new Explorer<>(model);
        List<World.Reader> readers = Model.readers(scenario.readers, 1);
        long began = System.nanoTime();
        explorer.visitAll(
                scenario.warm
                        ? model.warm(readers, scenario.updaters, scenario.repeats)
                        : model.cold(readers, scenario.updaters, scenario.repeats));
        assertThat(explorer.states()).isGreaterThan(500);
        log.info("{}: {} states, {} ms", scenario, explorer.states(), (System.nanoTime() - began) / 1_000_000);
    }
}
