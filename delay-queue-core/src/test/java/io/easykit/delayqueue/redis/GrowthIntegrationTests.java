package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.engine.GrowthRun;
import io.easykit.delayqueue.engine.GrowthRun.Weakness;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Some of the random runs with the scripts in place of the store in memory. The wakeups are lost: time is not real. */
class GrowthIntegrationTests {

    @Test
    @Tag("heavy")
    void keepsIdsKeysAndTimesWhileShardsAreAdded() {
        Long given = Long.getLong("easykit.seed");
        Random seeds = new Random();
        for (int i = 0; i < 4; i++) {
            long seed = given == null ? seeds.nextLong() : given;
            try (TestShard shard = new TestShard()) {
                new GrowthRun(seed, Weakness.NONE, micros -> EngineFaultIntegrationTests.inSimulatedTime(shard, micros))
                        .run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("Seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
