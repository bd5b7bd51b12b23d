package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.time.EngineTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads of the workers that a test starts and runs. */
class RecoveryWorkersTests {

    private final Workbench bench = new Workbench();
    private final List<Rounds> threads = new ArrayList<>();
    private int missingAfter = Integer.MAX_VALUE;
    private final EasyCacheEngine node =
            bench.builder(new JacksonValueCodec()).ticker(new RoundsOnDemand()).build();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void threadsThatAreMissingWhenPartitionsChangeAreStartedAtALaterRound(int available) {
        bench.store.repartition(3);
        missingAfter = 1 + available;
        round();
        assertThat(running()).as("workers that try again").isNotEmpty();
        round();

        missingAfter = Integer.MAX_VALUE;
        round();

        assertThat(running())
                .containsExactly(
                        "easy-cache-recovery-default-0",
                        "easy-cache-recovery-default-1",
                        "easy-cache-recovery-default-2");
        recoversWhatWasLost();
    }

    @Test
    void theWorkersOfEarlierPartitionsStopWhenAllOthersRun() {
        bench.store.repartition(3);
        round();
        bench.store.repartition(2);
        round();

        assertThat(running()).containsExactly("easy-cache-recovery-default-0", "easy-cache-recovery-default-1");
    }

    @Test
    void allStopWithTheCacheAlsoWhileThreadsAreMissing() {
        bench.store.repartition(3);
        missingAfter = 2;
        round();

        node.stop();

        assertThat(running()).isEmpty();
    }

    private void recoversWhatWasLost() {
        CacheKey<String> key = Workbench.ap().key(1);
        node.fetch(key, () -> "old");
        bench.store.away();
        node.invalidate(key);
        assertThat(node.undelivered("default")).isEqualTo(1);

        bench.store.back();
        for (int i = 0; i <= CircuitBreakerOptions.defaults().probesToRecover(); i++) {
            round();
        }

        assertThat(node.undelivered("default")).isZero();
        assertThat(node.fetch(key, () -> "new")).isEqualTo("new");
    }

    private List<String> running() {
        return threads.stream()
                .filter(thread -> !thread.stopped)
                .map(thread -> thread.name)
                .toList();
    }

    private void round() {
        List.copyOf(threads).stream().filter(thread -> !thread.stopped).forEach(Rounds::run);
    }

    private final class RoundsOnDemand implements Ticker {

        @Override
        public long nanoTime() {
            return bench.clock.nanoTime();
        }

        @Override
        public void pause(long nanos) throws InterruptedException {
            bench.clock.pause(nanos);
        }

        @Override
        public Scheduler newScheduler(String threadName) {
            if (threads.size() == missingAfter) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Rounds thread = new Rounds(threadName);
            threads.add(thread);
            return thread;
        }
    }

    private static final class Rounds implements EngineTime.Scheduler {

        private final String name;
        private final List<Runnable> repeated = new ArrayList<>();
        private final List<Runnable> once = new ArrayList<>();
        private boolean stopped;

        Rounds(String name) {
            this.name = name;
        }

        void run() {
            List<Runnable> due = Stream.concat(once.stream(), repeated.stream()).toList();
            once.clear();
            due.forEach(Runnable::run);
        }

        @Override
        public void execute(Runnable task) {
            once.add(task);
        }

        @Override
        public void schedule(Runnable task, long delayNanos) {
            once.add(task);
        }

        @Override
        public void repeat(Runnable task, long delayNanos) {
            repeated.add(task);
        }

        @Override
        public void stop() {
            stopped = true;
        }

        @Override
        public void stopNow() {
            stopped = true;
        }

        @Override
        public boolean awaitStop(long nanos) {
            return true;
        }
    }
}
