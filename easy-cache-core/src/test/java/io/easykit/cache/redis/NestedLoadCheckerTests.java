package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.Consistency;
import io.easykit.cache.redis.Model.Violation;
import io.easykit.cache.redis.NestedModel.Fault;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves that a value which is computed from another cached value is as fresh as any: the shipped scripts on a real Redis
 * through all interleavings of a reader whose load reads the inner key, a second reader of the inner key in the same JVM,
 * and an update of both keys.
 */
class NestedLoadCheckerTests {

    private static final Logger log = LoggerFactory.getLogger(NestedLoadCheckerTests.class);

    private static Laboratory laboratory;

    @BeforeAll
    static void open() {
        laboratory = new Laboratory(RedisServer.shared(), ScriptTexts.shipped(), true);
    }

    @AfterAll
    static void close() {
        laboratory.close();
    }

    record Scenario(
            Consistency outer, Consistency inner, boolean commitsFirst, boolean innerFirst, boolean warmInner) {}

    /** All combinations. In loops, because nested lambdas take the formatter half a minute. */
    static List<Scenario> scenarios() {
        List<Boolean> both = List.of(false, true);
        List<Scenario> all = new ArrayList<>();
        for (Consistency outer : Consistency.values()) {
            for (Consistency inner : Consistency.values()) {
                for (boolean commitsFirst : both) {
                    for (boolean innerFirst : both) {
                        for (boolean warm : both) {
                            all.add(new Scenario(outer, inner, commitsFirst, innerFirst, warm));
                        }
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void noInterleavingStoresAnOuterValueThatIsOlderThanItsUpdate(Scenario scenario) {
        assertThat(explore(scenario, 2, Set.of())).isGreaterThan(300);
    }

    @Tag("heavy")
    @ParameterizedTest
    @MethodSource("scenarios")
    void noLongInterleavingStoresAnOuterValueThatIsOlderThanItsUpdate(Scenario scenario) {
        assertThat(explore(scenario, 6, Set.of())).isGreaterThan(1000);
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void findsTheFaultOfAWeakenedRule(Fault fault) {
        for (Consistency outer : Consistency.values()) {
            Scenario scenario = new Scenario(
                    outer, Consistency.AP, fault == Fault.DOES_NOT_PREPARE, false, fault != Fault.SHARES_OLDER_LOAD);
            assertThatExceptionOfType(Violation.class)
                    .isThrownBy(() -> explore(scenario, 2, Set.of(fault)))
                    .withMessageContaining("outer version 0")
                    .satisfies(violation -> log.info("{} {}: {}", fault, outer, violation.getMessage()));
        }
    }

    private static int explore(Scenario scenario, int lastTick, Set<Fault> faults) {
        NestedModel model = new NestedModel(
                laboratory,
                scenario.outer,
                scenario.inner,
                scenario.commitsFirst,
                scenario.innerFirst,
                lastTick,
                faults);
        int states = model.visitAll(scenario.warmInner);
        log.info("{}: {} states", scenario, states);
        return states;
    }
}
