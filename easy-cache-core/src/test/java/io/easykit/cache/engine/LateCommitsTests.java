package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LateCommitsTests {

    private final ManualClock clock = new ManualClock();
    private final LateCommits late = new LateCommits(2, clock);
    private final List<String> ends = new ArrayList<>();

    @Test
    void endsEachUpdateOnceWhenItsWorkIsClosed() {
        boolean[] open = {true};
        late.add(() -> open[0], () -> ends.add("first"));
        late.add(() -> false, () -> ends.add("second"));
        late.endClosed();
        assertThat(ends).containsExactly("second");

        open[0] = false;
        late.endClosed();
        late.endClosed();
        assertThat(ends).containsExactly("second", "first");
    }

    @Test
    void waitsNotForEver() {
        late.add(() -> true, () -> ends.add("never closed"));
        clock.advance(Duration.ofMinutes(10).plusMillis(1));
        late.endClosed();
        assertThat(ends).containsExactly("never closed");
    }

    /** Ended too early, it would leave values that were computed since. */
    @Test
    void aSecondEndBoundsItsTimeItself() {
        boolean[] open = {true};
        late.add((LateCommits.SecondTime) () -> open[0], () -> ends.add("second time"));
        clock.advance(LateCommits.LONGEST.plusMillis(1));
        late.endClosed();
        assertThat(ends).isEmpty();

        open[0] = false;
        late.endClosed();
        assertThat(ends).containsExactly("second time");
    }

    /** The worker that probes Redis and renews marks makes these calls. After an outage there may be thousands of them. */
    @Test
    void aRoundOfSecondEndsTakesAboutASecond() {
        for (int i = 0; i < 5; i++) {
            late.add((LateCommits.SecondTime) () -> false, () -> {
                ends.add("second time");
                clock.advance(Duration.ofMillis(600));
            });
        }
        late.add(() -> false, () -> ends.add("commit"));
        late.endClosed();
        assertThat(ends).containsExactly("second time", "second time", "commit");

        late.endClosed();
        assertThat(ends).hasSize(5);
    }

    /** Each of them is counted once it waits for a delivery. */
    @Test
    void leavesSecondEndsToEpochsIfTooManyAreHeldUp() {
        HeldUp first = new HeldUp();
        HeldUp second = new HeldUp();
        HeldUp third = new HeldUp();
        List.of(first, second, third).forEach(one -> late.add(one, () -> ends.add("an end")));
        late.add(() -> true, () -> ends.add("a commit"));
        third.heldUp = false;
        late.endClosed();
        assertThat(ends).isEmpty();

        third.heldUp = true;
        late.endClosed();
        assertThat(ends).containsExactly("an end", "an end", "an end");
    }

    private static final class HeldUp implements LateCommits.SecondTime {

        private boolean heldUp = true;
        private boolean left;

        @Override
        public boolean getAsBoolean() {
            return !left;
        }

        @Override
        public boolean isHeldUp() {
            return heldUp;
        }

        @Override
        public void leaveToEpochs() {
            left = true;
        }
    }

    /** The last call, of a stop, has no next one. */
    @Test
    void endsTheOthersAlthoughAnEndThrows() {
        late.add(() -> false, () -> {
            throw new IllegalStateException("an end");
        });
        late.add(() -> false, () -> ends.add("the other"));
        assertThatThrownBy(late::endClosed).hasMessage("an end");
        assertThat(ends).containsExactly("the other");

        late.endClosed();
        assertThat(ends).containsExactly("the other");
    }

    @Test
    void anInterruptLeavesTheRestOfTheUpdates() {
        late.add(() -> false, () -> {
            ends.add("first");
            Thread.currentThread().interrupt();
        });
        late.add(() -> false, () -> ends.add("second"));
        try {
            late.endClosed();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(ends).containsExactly("first");

        late.endClosed();
        assertThat(ends).containsExactly("first", "second");
    }
}
