package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.Consistency;
import io.easykit.cache.redis.BatchModel.Fault;
import io.easykit.cache.redis.Model.Violation;
import io.easykit.test.RedisServer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves that a batch stores no element that was invalidated meanwhile: the shipped scripts on a real Redis through all
 * interleavings of a batch of two elements, a reader of the second one on another node, and an update of both.
 */
class BatchReadCheckerTests {

    private static final Logger log = LoggerFactory.getLogger(BatchReadCheckerTests.class);

    private static Laboratory laboratory;

    @BeforeAll
    static void open() {
        laboratory = new Laboratory(RedisServer.shared(), ScriptTexts.shipped(), true);
    }

    @AfterAll
    static void close() {
        laboratory.close();
    }

    record Scenario(Consistency consistency, boolean commitsFirst, boolean warm) {}

    static Stream<Scenario> scenarios() {
        return Stream.of(Consistency.values())
                .flatMap(consistency -> Stream.of(false, true).flatMap(commitsFirst -> Stream.of(false, true)
                        .map(warm -> new Scenario(consistency, commitsFirst, warm))));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void noInterleavingStoresAnElementThatWasInvalidatedMeanwhile(Scenario scenario) {
        assertThat(explore(scenario, 2, null)).isGreaterThan(300);
    }

    @Tag("heavy")
    @ParameterizedTest
    @MethodSource("scenarios")
    void noLongInterleavingStoresAnElementThatWasInvalidatedMeanwhile(Scenario scenario) {
        assertThat(explore(scenario, 5, null)).isGreaterThan(1000);
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void findsTheFaultOfAWeakenedBatch(Fault fault) {
        for (Consistency consistency : Consistency.values()) {
            assertThatExceptionOfType(Violation.class)
                    .isThrownBy(() -> explore(new Scenario(consistency, false, false), 4, fault))
                    .withMessageContaining("version 0")
                    .satisfies(violation -> log.info("{} {}: {}", fault, consistency, violation.getMessage()));
        }
    }

    private static int explore(Scenario scenario, int lastTick, @Nullable Fault fault) {
        BatchModel model = new BatchModel(laboratory, scenario.consistency, scenario.commitsFirst, lastTick, fault);
        int states = model.visitAll(scenario.warm);
        log.info("{}: {} states", scenario, states);
        return states;
    }
}
