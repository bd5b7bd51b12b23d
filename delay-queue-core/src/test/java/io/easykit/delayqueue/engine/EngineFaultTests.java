package io.easykit.delayqueue.engine;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** See {@link EngineFaultRun}. To repeat a run that failed: {@code -Deasykit.seed=<the printed seed>}. */
class EngineFaultTests {

    @Test
    void keepsAllPromisesUnderRandomFaults() {
        run(200);
    }

    @Test
    @Tag("heavy")
    void keepsAllPromisesUnderRandomFaultsForLong() {
        run(10_000);
    }

    private static void run(int count) {
        Long given = Long.getLong("easykit.seed");
        LongStream seeds = given == null ? new Random().longs(count) : LongStream.of(given);
        seeds.forEach(seed -> {
            try {
                new EngineFaultRun(seed).run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("Seed " + seed + ": " + e.getMessage(), e);
            }
        });
    }
}
