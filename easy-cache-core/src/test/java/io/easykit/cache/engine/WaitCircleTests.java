package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.Lane.Caller;
import io.easykit.cache.engine.Lane.Turn;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WaitCircleTests {

    private final Lock lock = new ReentrantLock();
    private final CacheKey<String> key = Workbench.ap().key(1);
    private final Lane lane = new Lane(key);
    private final Lane otherLane = new Lane(Workbench.ap().key(2));

    @BeforeEach
    void holdTheLock() {
        lock.lock();
    }

    @AfterEach
    void releaseTheLock() {
        lock.unlock();
    }

    private Turn await(Caller caller, Lane of, boolean read) {
        Turn turn = of.turnFor(read, lock);
        caller.startAwaiting(turn);
        of.join(caller, turn);
        return turn;
    }

    private Turn run(Caller caller, Lane of, boolean read) {
        Turn turn = await(caller, of, read);
        assertThat(turn.isRunning()).isTrue();
        begin(caller, turn);
        return turn;
    }

    private static void begin(Caller caller, Turn turn) {
        caller.stopAwaiting();
        caller.begin(turn);
    }

    private boolean closes(Caller joining, Lane of, boolean read) {
        joining.startAwaiting(of.turnFor(read, lock));
        return WaitCircle.closedBy(joining);
    }

    /** The search runs under the lock of all keys. */
    @Test
    void aSearchLooksAtEachTurnOnce() {
        for (int i = 0; i < 100_000; i++) {
            await(new Caller(), lane, false);
        }
        boolean closed = assertTimeoutPreemptively(Duration.ofSeconds(10), () -> closes(new Caller(), lane, false));
        assertThat(closed).isFalse();
    }

    @Test
    void aSearchLooksAtTheReadersOfATurnOnce() {
        for (int i = 0; i < 100_000; i++) {
            run(new Caller(), lane, true);
        }
        boolean closed = assertTimeoutPreemptively(Duration.ofSeconds(10), () -> closes(new Caller(), lane, false));
        assertThat(closed).isFalse();
    }

    @Test
    void findsACircleOfThree() {
        Caller first = new Caller();
        Caller second = new Caller();
        Caller third = new Caller();
        run(first, lane, false);
        run(second, otherLane, false);
        await(third, otherLane, false);
        await(second, lane, false);
        assertThat(closes(first, otherLane, false)).isTrue();
    }

    /** The write between the two reads has left, so they may share a load as those of one turn. */
    @Test
    void findsACircleOverALoadOfReadsThatRunTogether() {
        Caller first = new Caller();
        Caller writer = new Caller();
        Caller second = new Caller();
        run(first, otherLane, false);
        run(first, lane, true);
        Turn write = await(writer, lane, false);
        Turn read = await(second, lane, true);
        assertThat(read.isRunning()).isFalse();
        lane.leave(writer, write);
        assertThat(read.isRunning()).isTrue();
        begin(second, read);
        assertThat(closes(second, otherLane, false)).isTrue();
    }

    @Test
    void theWriteBehindJoinedReadsWaitsForBoth() {
        Caller first = new Caller();
        Caller writer = new Caller();
        Caller second = new Caller();
        Turn early = run(first, lane, true);
        Turn write = await(writer, lane, false);
        Turn late = await(second, lane, true);
        Turn behind = await(new Caller(), lane, false);
        lane.leave(writer, write);
        begin(second, late);
        lane.leave(second, late);
        assertThat(behind.isRunning()).isFalse();
        lane.leave(first, early);
        assertThat(behind.isRunning()).isTrue();
    }
}
