package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random faults against the model; a failure names its seed, and {@code run(seed)} repeats it. */
class ProtocolCheckerTests {

    @Test
    void keepsEveryPromiseUnderRandomFaults() {
        check(ThreadLocalRandom.current().nextInt(1_000_000_000), Duration.ofSeconds(10));
    }

    @Test
    @Tag("heavy")
    void keepsEveryPromiseUnderManyRandomFaults() {
        check(ThreadLocalRandom.current().nextInt(1_000_000_000), Duration.ofMinutes(10));
    }

    private static void check(long firstSeed, Duration time) {
        long end = System.nanoTime() + time.toNanos();
        long seed = firstSeed;
        long calls = 0;
        try (ProtocolChecker checker =
                new ProtocolChecker(TestShard.connections(RedisServer.shared()), UnaryOperator.identity())) {
            while (System.nanoTime() < end) {
                calls += checker.run(seed++);
            }
        }
        System.out.printf("%,d seeds from %d, %,d calls%n", seed - firstSeed, firstSeed, calls);
        assertThat(seed - firstSeed).isGreaterThan(10);
    }
}
