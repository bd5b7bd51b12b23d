package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOrderTimeoutException;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.engine.Lane.Caller;
import io.easykit.cache.engine.Lane.Turn;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Gives each call of a key its turn, in order of arrival.
 *
 * <pre>
 *              join                 all ahead have left               leave
 *   (no turn) ------> turn waits ------------------------> turn runs -------> (no turn)
 *        ^               |                                    ^
 *        +---------------+                                    |
 *     wait ended, interrupted                   a read that comes while reads run
 *     or circle: it never runs                  and no write waits
 * </pre>
 *
 * <p>A key has a lane only while it has calls, so keys share nothing but the lock of this class. That lock is held to change a
 * queue and to search for a circle, never while a call runs or waits.
 *
 * <p>A turn belongs to a thread. It runs the call itself, so its transaction and its context stay with it.
 */
final class KeyLanes {

    private final ReentrantLock lock = new ReentrantLock();

    /** Changed under the lock, read without it. */
    private final Map<CacheKey<?>, Lane> lanes = new ConcurrentHashMap<>();

    @SuppressWarnings("ThreadLocalUsage") // removed with the last turn of its thread
    private final ThreadLocal<Caller> callers = new ThreadLocal<>();

    private final CacheListener listener;

    KeyLanes(CacheListener listener) {
        this.listener = listener;
    }

    /** Whether no call of the key runs or waits. */
    boolean isIdle(CacheKey<?> key) {
        return !lanes.containsKey(key);
    }

    /** How many keys have calls. */
    int size() {
        return lanes.size();
    }

    /** The calling thread; null if it has no turn. */
    @Nullable Caller caller() {
        return callers.get();
    }

    /**
     * Waits for the turn of a key. The caller must {@linkplain #leave leave} it.
     *
     * @param key of which the calling thread has no turn
     * @param since when the call began, of {@link System#nanoTime()}: the bound of its wait is for all its keys
     * @return null if it would wait for ever, because others wait for its own turns: it runs outside the order
     * @throws CacheOrderTimeoutException if it gets no turn: it must not run
     */
    @Nullable Turn enter(CacheKey<?> key, boolean read, long since) {
        Arrival arrival = new Arrival(key, read, since);
        Turn turn = null;
        try {
            turn = arrival.enter();
        } finally {
            report(arrival, turn);
        }
        return turn;
    }

    /** An {@code Error} of a listener must not leave the turn to a caller that does not know of it. */
    private void report(Arrival arrival, @Nullable Turn turn) {
        try {
            arrival.report();
        } catch (Error failure) {
            if (turn != null) {
                leave(turn);
            }
            throw failure;
        }
    }

    /** The turn of a key that has no calls, shared by no other; null if it has some. Never waits. */
    @Nullable Turn tryEnter(CacheKey<?> key) {
        if (!isIdle(key)) {
            return null;
        }
        lock.lock();
        try {
            return isIdle(key) ? new Arrival(key, false, System.nanoTime()).enter() : null;
        } finally {
            lock.unlock();
        }
    }

    /** The call of a turn is over. On the thread that has entered it. */
    void leave(Turn turn) {
        Caller caller = requireNonNull(callers.get());
        lock.lock();
        try {
            caller.end(turn);
            turn.lane().leave(caller, turn);
            removeIfEmpty(turn.lane());
        } finally {
            lock.unlock();
        }
        if (!caller.hasTurns()) {
            callers.remove();
        }
    }

    private void removeIfEmpty(Lane lane) {
        if (lane.isEmpty()) {
            lanes.remove(lane.key(), lane);
        }
    }

    /** A call on its way to its turn. */
    private final class Arrival {

        private final CacheKey<?> key;
        private final boolean read;
        private final SerialOptions options;
        private final Caller caller;
        private final long since;
        private final long cameAt = System.nanoTime();
        private int queued;
        private CacheListener.@Nullable Turn outcome;

        Arrival(CacheKey<?> key, boolean read, long since) {
            Caller known = callers.get();
            this.key = key;
            this.read = read;
            this.since = since;
            this.options = requireNonNull(key.spec().options().serial());
            this.caller = known != null ? known : new Caller();
        }

        @Nullable Turn enter() {
            lock.lock();
            try {
                return enter(lanes.computeIfAbsent(key, Lane::new));
            } finally {
                lock.unlock();
            }
        }

        private @Nullable Turn enter(Lane lane) {
            Turn turn = lane.turnFor(read, lock);
            outcome = turn.isNew() ? CacheListener.Turn.OWN : CacheListener.Turn.MERGED;
            caller.startAwaiting(turn);
            boolean entered = false;
            try {
                if (caller.hasTurns() && WaitCircle.closedBy(caller)) {
                    outcome = CacheListener.Turn.OUTSIDE;
                    return null;
                }
                requirePlace(lane, turn);
                lane.join(caller, turn);
                awaitBegin(lane, turn);
                caller.begin(turn);
                callers.set(caller);
                entered = true;
                return turn;
            } finally {
                caller.stopAwaiting();
                if (!entered) {
                    caller.end(turn);
                    lane.leave(caller, turn);
                    removeIfEmpty(lane);
                }
            }
        }

        private void requirePlace(Lane lane, Turn turn) {
            boolean waits = !turn.isRunning() && !lane.isEmpty();
            if (waits && lane.waiting() >= options.maxQueue()) {
                outcome = CacheListener.Turn.REFUSED;
                throw CacheOrderTimeoutException.queueFull(key, options);
            }
        }

        private void awaitBegin(Lane lane, Turn turn) {
            if (turn.isRunning()) {
                return;
            }
            queued = lane.startWaiting();
            try {
                awaitBegin(turn);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                if (!turn.isRunning()) {
                    outcome = CacheListener.Turn.INTERRUPTED;
                    throw CacheOrderTimeoutException.interrupted(key);
                }
            } finally {
                lane.stopWaiting();
            }
        }

        private void awaitBegin(Turn turn) throws InterruptedException {
            long left = options.maxWait().toNanos() - (cameAt - since);
            while (!turn.isRunning()) {
                if (left <= 0) {
                    outcome = CacheListener.Turn.TIMED_OUT;
                    throw CacheOrderTimeoutException.waitEnded(
                            key, options, turn.lane().callersAheadOf(turn));
                }
                left = turn.begins().awaitNanos(left);
            }
        }

        void report() {
            if (outcome != null) {
                listener.onTurn(key, outcome, Duration.ofNanos(queued == 0 ? 0 : System.nanoTime() - cameAt), queued);
            }
        }
    }
}
