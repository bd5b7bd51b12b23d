package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.ShardKey;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** See {@link EngineFaultRun}. To repeat a run that failed: {@code -Deasykit.seed=<the printed seed>}. */
class EngineFaultTests {

    private static final int MOST_SEEDS = 50;

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

    /** A store that breaks a promise. */
    enum BrokenStore {
        LOSES_MESSAGES("what was stored and did not end by itself"),
        HANDS_OUT_EARLY("starts early"),
        ENDS_LEASES_EARLY("belongs to two at a time"),
        DOES_NOT_RENEW("belongs to two at a time"),
        DOES_NOT_CANCEL("runs after it was cancelled"),
        LOSES_FAILED_MESSAGES("nothing is acknowledged that no handler has");

        private static final long AHEAD_MICROS = 100_000;

        final String symptom;

        BrokenStore(String symptom) {
            this.symptom = symptom;
        }

        QueueBackend over(LongSupplier micros) {
            long[] ahead = new long[1];
            InMemoryQueueStore store = new InMemoryQueueStore(() -> micros.getAsLong() + ahead[0]);
            return (QueueBackend) Proxy.newProxyInstance(
                    QueueBackend.class.getClassLoader(),
                    new Class<?>[] {QueueBackend.class},
                    (proxy, method, arguments) -> {
                        ahead[0] = this == HANDS_OUT_EARLY && method.getName().equals("claim") ? AHEAD_MICROS : 0;
                        return call(store, method, arguments);
                    });
        }

        private Object call(InMemoryQueueStore store, Method method, Object[] arguments) throws Throwable {
            String name = method.getName();
            if (this == LOSES_MESSAGES && name.equals("send")) {
                arguments[0] = new ShardKey("elsewhere", 0);
            } else if (this == ENDS_LEASES_EARLY && name.equals("claim")) {
                arguments[1] = withShorterLease((Claim) arguments[1]);
            } else if (this == DOES_NOT_RENEW && name.equals("extend")) {
                return Collections.nCopies(((List<?>) arguments[1]).size(), Settlement.APPLIED);
            } else if (this == DOES_NOT_CANCEL && name.equals("cancel")) {
                return Collections.nCopies(((List<?>) arguments[1]).size(), ChangeOutcome.APPLIED);
            } else if (this == LOSES_FAILED_MESSAGES && name.equals("fail")) {
                return store.acknowledge(
                        (ShardKey) arguments[0],
                        ((List<?>) arguments[1])
                                .stream().map(one -> ((Failure) one).lease()).toList());
            }
            try {
                return method.invoke(store, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private static Claim withShorterLease(Claim claim) {
            return new Claim(
                    claim.owner(),
                    claim.request(),
                    claim.count(),
                    claim.besideLost(),
                    claim.lease().dividedBy(10),
                    claim.bytes(),
                    claim.limits(),
                    claim.acknowledged(),
                    claim.borrowed());
        }
    }

    @ParameterizedTest
    @EnumSource
    void findsTheFaultOfABrokenStore(BrokenStore broken) {
        String found = "";
        for (long seed = 1; seed <= MOST_SEEDS && found.isEmpty(); seed++) {
            try {
                new EngineFaultRun(seed, broken::over).run();
            } catch (AssertionError e) {
                found = String.valueOf(e.getMessage());
            }
        }
        assertThat(found).contains(broken.symptom);
    }
}
