package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EntryClockTests {

    private static final long NOW = 1_000_000;

    private final List<CompletableFuture<Long>> asked = new ArrayList<>();
    private final EntryClock clock = new EntryClock(this::ask, true);

    private CompletionStage<Long> ask() {
        CompletableFuture<Long> time = new CompletableFuture<>();
        asked.add(time);
        return time;
    }

    @Test
    void judgesNothingBeforeItKnowsTheServersTimeAndAsksOnce() {
        assertThat(clock.isAhead(NOW + 1_000_000)).isFalse();
        assertThat(clock.remaining(NOW)).isNull();
        assertThat(asked).hasSize(1);

        asked.get(0).complete(NOW);

        assertThat(clock.isAhead(NOW + 1_000_000)).isTrue();
        assertThat(clock.remaining(NOW + 1_000_000)).isPositive();
        assertThat(asked).hasSize(1);
    }

    @Test
    void takesOnlyAnEndForAheadThatIsCertainToBe() {
        clock.update(NOW, System.nanoTime());

        assertThat(clock.isAhead(NOW + 10_000)).isTrue();
        assertThat(clock.isAhead(NOW + 50)).isFalse();
        assertThat(clock.isAhead(NOW)).isFalse();
    }

    /** The two clocks may have drifted apart since. */
    @Test
    void judgesNothingByAnOldEstimate() {
        clock.update(NOW, System.nanoTime() - Duration.ofSeconds(61).toNanos());

        assertThat(clock.isAhead(NOW + 1_000_000)).isFalse();
        assertThat(clock.remaining(NOW + 1_000_000)).as("to refresh in time").isPositive();
        asked.get(0).completeExceptionally(new IllegalStateException("away"));
        assertThat(clock.isAhead(NOW + 1_000_000)).isFalse();
        asked.get(1).complete(NOW);
        assertThat(clock.isAhead(NOW + 1_000_000)).isTrue();
    }

    @Test
    void takesOnlyAnEndForOverThatIsCertainToBe() {
        assertThat(clock.isOver(NOW - 1_000_000)).isFalse();

        clock.update(NOW, System.nanoTime());

        assertThat(clock.isOver(NOW - 10_000)).isTrue();
        assertThat(clock.isOver(NOW - 50)).isFalse();
        assertThat(clock.isOver(NOW + 10_000)).isFalse();
    }

    @Test
    void judgesNothingByTheClockOfAFormerServer() {
        clock.update(NOW, System.nanoTime());
        clock.forget();

        assertThat(clock.isAhead(NOW + 1_000_000)).isFalse();
        assertThat(clock.isOver(NOW - 1_000_000)).isFalse();
        assertThat(clock.remaining(NOW)).isNull();

        asked.get(0).complete(NOW);

        assertThat(clock.isAhead(NOW + 1_000_000)).isTrue();
    }

    /** Its masters have a clock each. */
    @Test
    void judgesNothingInACluster() {
        EntryClock ofCluster = new EntryClock(this::ask, false);
        ofCluster.update(NOW, System.nanoTime());

        assertThat(ofCluster.isAhead(NOW + 1_000_000)).isFalse();
        assertThat(ofCluster.isOver(NOW - 1_000_000)).isFalse();
        assertThat(ofCluster.remaining(NOW + 1_000_000))
                .as("to refresh in time")
                .isPositive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void readsTheTimeAgainAfterACallThatFailsAtOnce(boolean isError) {
        AtomicInteger calls = new AtomicInteger();
        EntryClock failing = new EntryClock(
                () -> {
                    if (calls.getAndIncrement() == 0) {
                        if (isError) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
                        throw new IllegalStateException("no connection");
                    }
                    return CompletableFuture.completedFuture(NOW);
                },
                true);

        assertThat(failing.isAhead(NOW + 1_000_000)).isFalse();
        assertThat(failing.isAhead(NOW + 1_000_000)).isTrue();
    }
}
