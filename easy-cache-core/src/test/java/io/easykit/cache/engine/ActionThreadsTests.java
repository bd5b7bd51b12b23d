package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ActionThreadsTests {

    private static final int GENERATIONS = 50;

    private final ActionThreads threads = new ActionThreads();
    private final CompletableFuture<Integer> depth = new CompletableFuture<>();

    /** A worker that replaces itself by a new thread inside each of its actions. */
    @ParameterizedTest
    @CsvSource({"false, 1", "true, 2"})
    void forgetActionsThatHaveEnded(boolean overlapping, int known) throws Exception {
        work(GENERATIONS, Step.over(), new Step(), overlapping);
        assertThat(depth.get(10, TimeUnit.SECONDS)).isEqualTo(known);
    }

    private record Step(CompletableFuture<Void> begun, CompletableFuture<Void> ended) {

        Step() {
            this(new CompletableFuture<>(), new CompletableFuture<>());
        }

        static Step over() {
            return new Step(CompletableFuture.completedFuture(null), CompletableFuture.completedFuture(null));
        }
    }

    /** @param overlapping whether the next action begins before this one ends */
    private void work(int left, Step before, Step mine, boolean overlapping) {
        Step next = new Step();
        threads.run(() -> {
            mine.begun.complete(null);
            if (left == 0) {
                depth.complete(threads.depth());
                return null;
            }
            new Thread(() -> {
                        (overlapping ? before : mine).ended.join();
                        work(left - 1, mine, next, overlapping);
                    })
                    .start();
            if (overlapping) {
                next.begun.join();
            }
            return null;
        });
        mine.ended.complete(null);
    }

    @Test
    void knowTheActionAroundOneThatHasEnded() throws Exception {
        CompletableFuture<Void> innerEnded = new CompletableFuture<>();
        CompletableFuture<Boolean> included = new CompletableFuture<>();
        threads.run(() -> {
            threads.run(() -> {
                new Thread(() -> {
                            innerEnded.join();
                            included.complete(threads.includeCallingThread());
                        })
                        .start();
                return null;
            });
            innerEnded.complete(null);
            assertThat(included.get(10, TimeUnit.SECONDS)).isTrue();
            assertThat(threads.includeCallingThread()).isFalse();
            return null;
        });
        assertThat(threads.depth()).isZero();
    }
}
