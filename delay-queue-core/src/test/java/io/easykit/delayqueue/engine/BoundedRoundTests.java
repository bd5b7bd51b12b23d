package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BoundedRoundTests {

    private final List<String> visits = new ArrayList<>();
    private long nanos = Long.MAX_VALUE - 1; // as a clock that overflows
    private final BoundedRound<String> round = new BoundedRound<>(() -> nanos);

    private void visitFor(String thing, long millis) {
        visits.add(thing);
        nanos += TimeUnit.MILLISECONDS.toNanos(millis);
    }

    @Test
    void beginsNoVisitAfterTwoSeconds() {
        round.add(List.of("a", "b", "c", "d"));
        round.run(thing -> visitFor(thing, 900));
        assertThat(visits).containsExactly("a", "b", "c");
        assertThat(round.isComplete()).isFalse();

        round.run(thing -> visitFor(thing, 900));
        assertThat(visits).containsExactly("a", "b", "c", "d");
        assertThat(round.isComplete()).isTrue();
    }

    @Test
    void visitsTheOthersInTheSameRoundAlthoughTheStoreRefusesOneOrDoesNotAnswer() {
        round.add(List.of("refused", "silent", "good"));
        round.run(thing -> {
            visitFor(thing, 10);
            if (thing.equals("refused")) {
                throw new StoreRefusedException("refused", new IllegalStateException());
            }
            if (thing.equals("silent")) {
                throw new StoreUnavailableException("silent", new IllegalStateException());
            }
        });

        assertThat(visits).containsExactly("refused", "silent", "good");
        assertThat(round.isComplete()).isTrue();
    }

    /** Else those behind a master that is away would have no turn at all. */
    @Test
    void beginsWithThoseThatHadNoTurn() {
        round.add(List.of("a", "b", "c"));
        round.run(thing -> visitFor(thing, 2_000));
        round.add(List.of("a", "b", "c"));
        round.run(thing -> visitFor(thing, 500));

        assertThat(visits).containsExactly("a", "b", "c", "a");
    }

    @Test
    void forgetsThem() {
        round.add(List.of("a", "b"));
        round.clear();
        round.run(thing -> visitFor(thing, 1));

        assertThat(visits).isEmpty();
    }
}
