package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one key, in order of arrival. The first turn runs, the others wait. Two turns of reads stand side by side if the
 * write between them has left without running; then they run together. Guarded by the lock of {@link KeyLanes}.
 */
final class Lane {

    private final CacheKey<?> key;
    private final NavigableSet<Turn> turns = new TreeSet<>(Comparator.comparingLong((Turn turn) -> turn.number));
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
        Turn last = turns.isEmpty() ? null : turns.last();
        return read && last != null && last.read
                ? last
                : new Turn(this, read, last == null ? 0 : last.number + 1, lock.newCondition());
    }

    void join(Caller caller, Turn turn) {
        turn.members.add(caller);
        if (turns.add(turn)) {
            turn.running = turns.first() == turn;
        }
    }

    /** A call that has joined a turn has ended, or waits no longer. The turns that need not wait any longer begin. */
    void leave(Caller caller, Turn turn) {
        boolean wasMember = turn.members.remove(caller);
        if (!wasMember || !turn.members.isEmpty()) {
            return;
        }
        turns.remove(turn);
        for (Turn next : turns) {
            boolean first = next == turns.first();
            if (!first && !(next.read && turns.first().read)) {
                break;
            }
            next.begin();
        }
    }

    /** The turns before this one, the last of them first. */
    Collection<Turn> aheadOf(Turn turn) {
        return turns.headSet(turn, false).descendingSet();
    }

    /** How many callers are before a turn. */
    int callersAheadOf(Turn turn) {
        return turns.headSet(turn, false).stream()
                .mapToInt(one -> one.members.size())
                .sum();
    }

    /** The turns that run. */
    Collection<Turn> running() {
        return turns.stream().takeWhile(turn -> turn.running).toList();
    }

    /** One write, or reads that no write stands between. */
    static final class Turn {

        private final Lane lane;
        private final boolean read;
        private final long number;
        private final Condition begins;
        private final Set<Caller> members = new LinkedHashSet<>();
        private boolean running;

        private Turn(Lane lane, boolean read, long number, Condition begins) {
            this.lane = lane;
            this.read = read;
            this.number = number;
            this.begins = begins;
        }

        private void begin() {
            if (!running) {
                running = true;
                begins.signalAll();
            }
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
