package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.RedisServer;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random faults against the model; a failure names its seed, with which {@code run} repeats it. Every build plays a hundred
 * short runs of new seeds, {@code ./mvnw -Pheavy verify} ten thousand long ones.
 */
class ProtocolCheckerTests {

    @Test
    void keepsEveryPromiseUnderRandomFaults() {
        check(100, 60, false);
    }

    @Test
    void keepsTheOrderOfEachKeyUnderRandomFaults() {
        check(100, 100, true);
    }

    @Test
    @Tag("heavy")
    void keepsTheOrderOfEachKeyUnderManyRandomFaults() {
        check(10_000, 220, true);
    }

    @Test
    @Tag("heavy")
    void keepsEveryPromiseUnderManyRandomFaults() {
        check(10_000, 220, false);
    }

    private static void check(int seeds, int steps, boolean isOrdered) {
        int first = ThreadLocalRandom.current().nextInt(1_000_000_000);
        long calls = 0;
        try (ProtocolChecker checker =
                new ProtocolChecker(TestShard.connections(RedisServer.shared()), UnaryOperator.identity())) {
            for (int seed = first; seed < first + seeds; seed++) {
                calls += checker.run(seed, steps, isOrdered);
            }
        }
        System.out.printf("Protocol checker: %,d seeds from %d, %,d calls%n", seeds, first, calls);
        assertThat(calls).isGreaterThan((long) seeds * steps / 2);
    }
}
