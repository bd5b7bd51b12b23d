package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.Lane.Caller;
import io.easykit.cache.engine.Lane.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class LaneTests {

    private static final int CALLERS = 12;
    private static final int WRITERS = 4;

    private final ReentrantLock lock = new ReentrantLock();

    /** A call that runs or waits. */
    private record Call(Caller caller, Turn turn) {

        boolean conflictsWith(Call other) {
            return !turn.isRead() || !other.turn.isRead();
        }
    }

    /** So no turn is lost, none is held longer than its calls last, and no call is overtaken. Some give up while they wait. */
    @Test
    void aCallRunsExactlyWhenNoEarlierOneConflictsWithIt() {
        lock.lock();
        for (long seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            Lane lane = new Lane(CacheSpec.of("lane", String.class).key(seed));
            List<Call> calls = new ArrayList<>();
            for (int step = 0; step < 500; step++) {
                if (calls.size() < CALLERS && random.nextBoolean()) {
                    calls.add(begin(lane, random.nextInt(CALLERS) >= WRITERS));
                } else if (!calls.isEmpty()) {
                    Call ended = calls.remove(random.nextInt(calls.size()));
                    lane.leave(ended.caller, ended.turn);
                }
                for (int i = 0; i < calls.size(); i++) {
                    Call call = calls.get(i);
                    assertThat(call.turn.isRunning())
                            .as("seed %d, step %d, call %d of %d", seed, step, i, calls.size())
                            .isEqualTo(calls.subList(0, i).stream().noneMatch(call::conflictsWith));
                }
                assertThat(lane.isEmpty()).isEqualTo(calls.isEmpty());
            }
        }
    }

    /** So a call waits for no more turns, however many callers read. */
    @Test
    void readsBetweenTwoWritesShareATurn() {
        lock.lock();
        Lane lane = new Lane(CacheSpec.of("lane", String.class).key(1));
        Turn last = begin(lane, true).turn;
        for (int i = 0; i < WRITERS; i++) {
            begin(lane, false);
            for (int reader = 0; reader < 50; reader++) {
                last = begin(lane, true).turn;
            }
        }

        assertThat(lane.aheadOf(last)).hasSize(2 * WRITERS);
    }

    private Call begin(Lane lane, boolean read) {
        Call call = new Call(new Caller(), lane.turnFor(read, lock));
        lane.join(call.caller, call.turn);
        return call;
    }
}
