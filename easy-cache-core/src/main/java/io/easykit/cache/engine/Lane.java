package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** The calls of one key, in order of arrival. The first turn runs, the others wait. Guarded by the lock of {@link KeyLanes}. */
final class Lane {

    private final CacheKey<?> key;
    private final Deque<Turn> turns = new ArrayDeque<>();
    private int waiting;

    Lane(CacheKey<?> key) {
        this.key = key;
    }

    CacheKey<?> key() {
        return key;
    }

    boolean isEmpty() {
        return turns.isEmpty();
    }

    /** How many calls wait. */
    int waiting() {
        return waiting;
    }

    int startWaiting() {
        return ++waiting;
    }

    void stopWaiting() {
        waiting--;
    }

    /** The turn that a new call would get: that of the last reads, for a read, or a new one at the end. */
    Turn turnFor(boolean read, Lock lock) {
        Turn last = turns.peekLast();
        return read && last != null && last.read ? last : new Turn(this, read, lock.newCondition());
    }

    void join(Caller caller, Turn turn) {
        turn.members.add(caller);
        if (turns.peekLast() != turn) {
            turn.running = turns.isEmpty();
            turns.addLast(turn);
        }
    }

    /** A call that has joined a turn has ended, or waits no longer. The next turn begins if this one is over. */
    void leave(Caller caller, Turn turn) {
        boolean wasMember = turn.members.remove(caller);
        if (!wasMember || !turn.members.isEmpty()) {
            return;
        }
        turns.remove(turn);
        Turn next = turns.peekFirst();
        if (turn.running && next != null) {
            next.running = true;
            next.begins.signalAll();
        }
    }

    /** The callers of the turns before this one. */
    List<Caller> aheadOf(Turn turn) {
        List<Caller> ahead = new ArrayList<>();
        for (Turn one : turns) {
            if (one == turn) {
                break;
            }
            ahead.addAll(one.members);
        }
        return ahead;
    }

    /** One write, or reads that no write stands between. */
    static final class Turn {

        private final Lane lane;
        private final boolean read;
        private final Condition begins;
        private final Set<Caller> members = new LinkedHashSet<>();
        private boolean running;

        private Turn(Lane lane, boolean read, Condition begins) {
            this.lane = lane;
            this.read = read;
            this.begins = begins;
        }

        Lane lane() {
            return lane;
        }

        boolean isRead() {
            return read;
        }

        boolean isRunning() {
            return running;
        }

        boolean isNew() {
            return members.isEmpty();
        }

        Condition begins() {
            return begins;
        }

        Set<Caller> members() {
            return members;
        }
    }

    /** A thread with the turns that it has, and the one that it waits for. */
    static final class Caller {

        private final Deque<Turn> turns = new ArrayDeque<>();
        private @Nullable Turn awaited;

        /** Calls of this thread that read inside a turn, one inside the other. Used by this thread only. */
        private int reads;

        private int outside;

        boolean hasTurns() {
            return !turns.isEmpty();
        }

        /** Whether it has the turn of a key. Only for the thread itself. */
        boolean holds(CacheKey<?> key) {
            for (Turn turn : turns) {
                if (turn.lane.key.equals(key)) {
                    return true;
                }
            }
            return false;
        }

        @Nullable Turn awaited() {
            return awaited;
        }

        Collection<Turn> turns() {
            return turns;
        }

        /** The turn that it waits for, or else the one that it got last, in which it runs. */
        @Nullable Turn latest() {
            return awaited != null ? awaited : turns.peekLast();
        }

        void startAwaiting(Turn turn) {
            awaited = turn;
        }

        void stopAwaiting() {
            awaited = null;
        }

        void begin(Turn turn) {
            turns.addLast(turn);
        }

        void end(Turn turn) {
            turns.removeLastOccurrence(turn);
        }

        int reads() {
            return reads;
        }

        /** Whether it runs an update without the turn of its key. Used by this thread only. */
        boolean isOutside() {
            return outside > 0;
        }

        void beginOutside() {
            outside++;
        }

        void endOutside() {
            outside--;
        }

        void beginRead() {
            reads++;
        }

        void endRead() {
            reads--;
        }
    }
}
