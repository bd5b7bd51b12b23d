package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.redis.ProtocolChecker.Kind;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random faults against the model; a failure names its seed, with which {@code run} repeats it. Every build plays two hundred
 * short runs of new seeds, {@code ./mvnw -Pheavy verify} ten thousand long ones.
 */
class ProtocolCheckerTests {

    /** Seeds of the heavy run, for each kind of queue. */
    private static final int SEEDS = Integer.getInteger("easykit.checker.seeds", 10_000);

    @Test
    void keepsEveryPromiseUnderRandomFaults() {
        check(60, 60, Kind.PLAIN);
    }

    @Test
    void keepsTheOrderOfEachKeyUnderRandomFaults() {
        check(60, 100, Kind.ORDERED);
    }

    @Test
    void keepsTheLimitsUnderRandomFaults() {
        check(40, 80, Kind.LIMITED);
    }

    @Test
    void keepsTheLimitsOfShardsThatLendUnderRandomFaults() {
        check(40, 80, Kind.LENDING);
    }

    @Test
    @Tag("heavy")
    void keepsTheLimitsUnderManyRandomFaults() {
        check(SEEDS, 220, Kind.LIMITED);
    }

    @Test
    @Tag("heavy")
    void keepsTheLimitsOfShardsThatLendUnderManyRandomFaults() {
        check(SEEDS, 220, Kind.LENDING);
    }

    @Test
    @Tag("heavy")
    void keepsTheOrderOfEachKeyUnderManyRandomFaults() {
        check(SEEDS, 220, Kind.ORDERED);
    }

    @Test
    @Tag("heavy")
    void keepsEveryPromiseUnderManyRandomFaults() {
        check(SEEDS, 220, Kind.PLAIN);
    }

    private static void check(int seeds, int steps, Kind kind) {
        int first = ThreadLocalRandom.current().nextInt(1_000_000_000);
        long calls = 0;
        try (ProtocolChecker checker = new ProtocolChecker(UnaryOperator.identity())) {
            for (int seed = first; seed < first + seeds; seed++) {
                calls += checker.run(seed, steps, kind);
            }
        }
        System.out.printf("Protocol checker: %,d seeds from %d, %,d calls%n", seeds, first, calls);
        assertThat(calls).isGreaterThan((long) seeds * steps / 2);
    }
}
