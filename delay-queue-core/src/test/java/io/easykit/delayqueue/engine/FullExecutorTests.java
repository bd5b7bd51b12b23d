package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An executor of the application that rejects runs while it is full. */
class FullExecutorTests {

    private final List<Runnable> rejected = new ArrayList<>();
    private final TestQueue queue = new TestQueue(builder -> builder.workers(this::execute));
    private boolean full = true;
    private boolean callerRuns;

    private void execute(Runnable task) {
        if (!full) {
            queue.node.after(Duration.ZERO, task);
            return;
        }
        rejected.add(task);
        if (!callerRuns) {
            throw new RejectedExecutionException("full");
        }
        task.run();
    }

    private void advance(long millis) {
        queue.time.advance(Duration.ofMillis(millis));
    }

    private int releases(String id) {
        return Objects.requireNonNull(queue.history(id)).releases();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void getsTheRunAgainAMomentLater(boolean byCallerRunsPolicy) {
        callerRuns = byCallerRunsPolicy;
        queue.start(listener(), message -> {});
        queue.send("a", Duration.ZERO);
        advance(10);
        assertThat(queue.runs).isEmpty();
        assertThat(queue.stats().inFlight()).isEqualTo(1);
        assertThat(rejected).hasSizeBetween(9, 12);

        full = false;
        advance(2);

        queue.assertEachRanOnce(1);
    }

    @Test
    void isRefusedAllItsRunsTogetherIfItStaysFull() {
        queue.start(listener().concurrency(3), message -> {});
        List.of("a", "b", "c").forEach(id -> queue.send(id, Duration.ZERO));

        advance(23);
        assertThat(queue.stats().inFlight()).isZero();
        for (String id : List.of("a", "b", "c")) {
            assertThat(releases(id)).isEqualTo(1);
        }
        int offers = rejected.size();
        advance(950);
        assertThat(rejected).hasSize(offers);

        full = false;
        advance(1_100);
        assertThat(queue.runs).hasSize(3);
        queue.assertEachRanOnce(3);
    }

    /** Such as one that rejects a task after it has stored it. */
    @Test
    void startsNoRunTwiceThatItHasRejected() {
        queue.start(listener(), message -> {});
        queue.send("a", Duration.ZERO);
        advance(10);
        full = false;
        advance(2);

        rejected.forEach(Runnable::run);
        advance(1_000);

        queue.assertEachRanOnce(1);
    }

    @Test
    void delaysNoStop() {
        ListenerContainer container = queue.start(listener(), message -> {});
        queue.send("a", Duration.ZERO);
        advance(5);

        container.beginStop();
        queue.time.advanceUntil(Duration.ofMillis(2), "the container stops", container::hasEnded);
        container.finishStop();

        assertThat(releases("a")).isEqualTo(1);
        full = false;
        int offers = rejected.size();
        advance(1_000);
        assertThat(rejected).hasSize(offers);
        assertThat(queue.runs).isEmpty();
    }
}
