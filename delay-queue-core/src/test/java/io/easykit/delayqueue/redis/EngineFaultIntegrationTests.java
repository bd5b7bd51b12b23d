package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.engine.EngineFaultRun;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Subscription;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Random;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** A few of the random runs with the scripts in place of the store in memory. The wakeups are lost: time is not real. */
class EngineFaultIntegrationTests {

    @Test
    void keepsAllPromisesWithTheScripts() {
        Long given = Long.getLong("easykit.seed");
        Random seeds = new Random();
        for (int i = 0; i < 8; i++) {
            long seed = given == null ? seeds.nextLong() : given;
            try (TestShard shard = new TestShard()) {
                new EngineFaultRun(seed, micros -> inSimulatedTime(shard, micros)).run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("Seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    static QueueBackend inSimulatedTime(TestShard shard, LongSupplier micros) {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("subscribe")) {
                        return (Subscription) () -> {};
                    }
                    shard.clockMicros(micros.getAsLong());
                    try {
                        return method.invoke(shard.store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
