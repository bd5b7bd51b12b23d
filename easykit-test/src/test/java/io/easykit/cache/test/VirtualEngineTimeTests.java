package io.easykit.cache.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Waits of an engine on a thread with a transaction. */
class VirtualEngineTimeTests {

    private final VirtualTime virtual = new VirtualTime(Instant.ofEpochSecond(1_700_000_000), () -> true);
    private final VirtualEngineTime time = new VirtualEngineTime(virtual);
    private final Executor background = time.background().orElseThrow();
    private final CompletableFuture<String> result = new CompletableFuture<>();
    private int runs;

    private void load() {
        runs++;
        result.complete("value");
    }

    @Test
    void aPauseLeavesReloadsToTheNextAdvance() throws Exception {
        background.execute(this::load);

        time.pause(TimeUnit.SECONDS.toNanos(2));
        assertThat(runs).isZero();

        virtual.advance(Duration.ZERO);
        assertThat(runs).isEqualTo(1);
    }

    /** Such as a load with a soft timeout, which nothing else would run in time. */
    @Test
    void runsAReloadWhoseResultIsAwaited() throws Exception {
        background.execute(this::load);

        assertThat(time.await(result, TimeUnit.MILLISECONDS.toNanos(50))).isEqualTo("value");

        virtual.advance(Duration.ZERO);
        assertThat(runs).isEqualTo(1);
    }

    @Test
    void dropsReloadsThatHaveNotRun() {
        background.execute(this::load);

        time.dropRefreshes();
        virtual.advance(Duration.ZERO);

        assertThat(runs).isZero();
    }
}
