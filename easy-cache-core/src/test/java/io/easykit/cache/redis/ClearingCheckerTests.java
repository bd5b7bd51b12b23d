package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.Consistency;
import io.easykit.cache.redis.ClearingModel.Fault;
import io.easykit.cache.redis.Model.Violation;
import io.easykit.test.RedisServer;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Proves the clearing of a cache by trying everything ({@link ClearingModel}). */
class ClearingCheckerTests {

    private static final Logger log = LoggerFactory.getLogger(ClearingCheckerTests.class);

    private static Laboratory laboratory;

    @BeforeAll
    static void open() {
        laboratory = new Laboratory(RedisServer.shared(), ScriptTexts.shipped(), true);
    }

    @AfterAll
    static void close() {
        laboratory.close();
    }

    @ParameterizedTest
    @CsvSource({"AP, 1, 1, 1, 2", "CP, 1, 1, 1, 2", "AP, 2, 1, 0, 1", "CP, 2, 1, 0, 1"})
    void noInterleavingViolatesTheInvariants(
            Consistency consistency, int updaters, int reads, int repeats, int lastTick) {
        explore(laboratory, consistency, updaters, reads, repeats, lastTick, Set.of());
    }

    @Tag("heavy")
    @ParameterizedTest
    @CsvSource({"AP, 1, 2, 1, 3", "CP, 1, 2, 1, 3", "AP, 2, 1, 0, 3", "CP, 2, 1, 0, 3"})
    void noLongInterleavingViolatesTheInvariants(
            Consistency consistency, int updaters, int reads, int repeats, int lastTick) {
        explore(laboratory, consistency, updaters, reads, repeats, lastTick, Set.of());
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void findsTheFaultOfAWeakenedRule(Fault fault) {
        boolean strong = Set.of(Fault.TAKES_OLD_EPOCHS, Fault.DOES_NOT_WAIT, Fault.IGNORES_CLEARINGS)
                .contains(fault);
        finds(fault.toString(), laboratory, strong ? Consistency.CP : Consistency.AP, Set.of(fault));
    }

    @Test
    void findsAnEndThatTakesTheClearingsOfOthersAlong() {
        findsInScripts(
                "one clearing for all",
                2,
                ScriptTexts.shipped()
                        .weaken(CacheScript.PREPARE_CLEAR, "'::' .. ARGV[i + 1] .. ':'", "'::x:'")
                        .weaken(CacheScript.RAISE_EPOCH, "'::' .. ARGV[i + 2] .. ':'", "'::x:'"));
    }

    @Test
    void findsAClearingThatIsEndedBeforeItsLease() {
        findsInScripts(
                "ended early",
                1,
                ScriptTexts.shipped().weaken(CacheScript.END_EXPIRED_CLEARS, "toMillis(all[i + 1]) <= now and ", ""));
    }

    @Test
    void findsAClearingThatIsEndedWithoutAnEpoch() {
        findsInScripts(
                "ended without an epoch",
                1,
                ScriptTexts.shipped().weaken(CacheScript.END_EXPIRED_CLEARS, "writeEpochs(fields, prefixes)", ""));
    }

    private static void findsInScripts(String what, int updaters, ScriptTexts scripts) {
        try (Laboratory weakened = new Laboratory(RedisServer.shared(), scripts, true)) {
            assertThatExceptionOfType(Violation.class)
                    .isThrownBy(() -> explore(weakened, Consistency.AP, updaters, 1, 0, 3, Set.of()))
                    .withMessageContaining("gets version")
                    .satisfies(violation -> log.info("{}: {}", what, violation.getMessage()));
        }
    }

    private static void finds(String what, Laboratory laboratory, Consistency consistency, Set<Fault> faults) {
        assertThatExceptionOfType(Violation.class)
                .isThrownBy(() -> explore(laboratory, consistency, 1, 2, 1, 3, faults))
                .withMessageContaining("gets version")
                .satisfies(violation -> log.info("{}: {}", what, violation.getMessage()));
    }

    private static void explore(
            Laboratory laboratory,
            Consistency consistency,
            int updaters,
            int reads,
            int repeats,
            int lastTick,
            Set<Fault> faults) {
        int states = new ClearingModel(laboratory, consistency, lastTick, faults).visitAll(updaters, reads, repeats);
        log.info("{} {} updaters, {} reads, {} repeats: {} states", consistency, updaters, reads, repeats, states);
        assertThat(states).isGreaterThan(1000);
    }
}
