package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.Lane.Caller;
import io.easykit.cache.engine.Lane.Turn;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Calls of serial caches: reads and writes of one key run one after the other in this JVM, in order of arrival; different keys
 * in parallel. This shapes load and order in one JVM. Correctness between JVMs stays with the protocol of
 * {@link CacheDispatcher} and {@link Updates}, which every call here uses as ever; so a call that runs outside the order is
 * still right.
 *
 * <h2>Reads</h2>
 *
 * A read of an idle key reads the cache first, and returns a fresh hit without a turn: it takes its place in the order at the
 * moment when Redis replies. Else it needs a turn ({@link KeyLanes}). A read that comes directly behind other reads shares
 * their turn. Reads of one turn run together, each as a plain read. So they read the cache again, and share one load as
 * single flight allows: a load that began before a reader came is not enough for CP.
 *
 * <h2>Writes</h2>
 *
 * A write has its turn alone: prepare, then a transaction of its own around the action, then invalidate. If the preparation
 * fails, no transaction begins. If the commit fails, or its outcome is unknown, the keys are invalidated as well. A write of
 * several keys takes their turns one after the other in the order of the keys, so two of them never wait for each other. The
 * bound of its wait is for all of them together.
 *
 * <h2>Calls inside calls</h2>
 *
 * <ul>
 *   <li>A call of a key whose turn its thread has runs at once.
 *   <li>A call of another key waits for its turn, unless that closes a circle of waiting callers ({@link WaitCircle}). Then it
 *       runs at once, outside the order; so do the calls inside an update that does.
 *   <li>Inside a transaction that began before, a call is outside the order: the snapshot of the transaction may be older than
 *       the turn, and it keeps a database connection.
 *   <li>Inside a load that belongs to no turn of its thread, a call is outside the order, too: others wait for that load, and
 *       the lanes do not know of it. Such loads are those of caches without order, of other threads, and of refreshes. A read on
 *       a thread of a fork-join pool counts as one while any load runs.
 * </ul>
 *
 * <p>A read outside the order whose thread has a turn, or is inside a load, waits for no other caller: without a fresh hit it
 * takes the turn of an idle key, and shares it with no other read, whose load it could have to wait for. Else it loads for
 * itself, and stores nothing.
 *
 * <p>Refreshes in the background have no turn. They return nothing to a caller, and their fencing token is rejected if a write
 * was prepared or ended since their load began.
 *
 * <h2>Failures</h2>
 *
 * A call that gets no turn in time, or is interrupted before, never runs. A turn ends with its call, whatever that throws. A
 * crash ends the lanes with the JVM; what a crash leaves in Redis is the same as without order. No thread belongs to the
 * lanes, so a stop lets the calls that wait have their turns.
 */
final class OrderedCalls {

    private final KeyLanes lanes;
    private final Updates updates;
    private final Transactions transactions;
    private final CacheListener listener;
    private final Ticker ticker;

    OrderedCalls(Updates updates, EngineContext engine) {
        this.lanes = new KeyLanes(engine.listener());
        this.updates = updates;
        this.transactions = engine.transactions();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /** How many keys have calls. */
    int busyKeys() {
        return lanes.size();
    }

    static boolean isSerial(CacheKey<?> key) {
        return key.spec().options().serial() != null;
    }

    /**
     * Reads when it is the turn of the reader.
     *
     * @param read makes the call from the ticker time at which the reader has its turn: an older load may miss the write before
     */
    <V> @Nullable V fetch(CacheReader reader, CacheKey<V> key, LongFunction<ReadRequest<V>> read) throws Throwable {
        Caller caller = lanes.caller();
        if (caller != null && caller.holds(key)) {
            return fetchInTurn(reader, read, caller);
        }
        boolean nested = caller != null || LoadInProgress.depth() > 0 || LoadInProgress.mayHelpAnotherThread();
        boolean outside = isOutside(caller) || LoadInProgress.mayHelpAnotherThread();
        if (outside && !nested) {
            return reader.fetch(read.apply(ticker.nanoTime()));
        }
        if (outside || lanes.isIdle(key)) {
            Decoded<V> hit = reader.freshHit(read.apply(ticker.nanoTime()));
            if (hit != null) {
                return hit.value();
            }
        }
        Turn turn = null;
        try {
            turn = outside ? lanes.tryEnter(key) : lanes.enter(key, true, System.nanoTime());
            return turn == null
                    ? loadAlone(read.apply(ticker.nanoTime()))
                    : fetchInTurn(reader, read, requireNonNull(lanes.caller()));
        } finally {
            if (turn != null) {
                lanes.leave(turn);
            }
        }
    }

    private <V> @Nullable V fetchInTurn(CacheReader reader, LongFunction<ReadRequest<V>> read, Caller caller)
            throws Throwable {
        caller.beginRead();
        try {
            return reader.fetch(read.apply(ticker.nanoTime()));
        } finally {
            caller.endRead();
        }
    }

    /** Waits for nobody. The value is for the caller alone, which may be inside another load. */
    private <V> @Nullable V loadAlone(ReadRequest<V> read) throws Throwable {
        listener.onMiss(read.key());
        return read.loader().load();
    }

    /** Runs an update when it is the turn of its keys, in a transaction of its own. */
    <T, X extends Throwable> @Nullable T update(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        List<CacheKey<?>> needed = withoutTurn(keys);
        return needed.isEmpty()
                ? updates.around(keys, action)
                : inTurns(needed, () -> updates.around(keys, () -> transactions.inNewTransaction(action)));
    }

    /** The same for an action that does its work in the current transaction, or in one that it begins. */
    <T, X extends Throwable> @Nullable T updateInTransaction(
            Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        return inOrder(keys, () -> updates.inTransaction(keys, action));
    }

    /** Runs an action when it is the turn of some keys. */
    <T, X extends Throwable> @Nullable T inOrder(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        return inTurns(withoutTurn(keys), action);
    }

    /** The serial ones of some keys, in their order, if they need a turn that this thread does not have. */
    private List<CacheKey<?>> withoutTurn(Collection<? extends CacheKey<?>> keys) {
        Caller caller = lanes.caller();
        if (keys.stream().noneMatch(OrderedCalls::isSerial) || isOutside(caller)) {
            return List.of();
        }
        return keys.stream()
                .filter(key -> isSerial(key) && (caller == null || !caller.holds(key)))
                .<CacheKey<?>>map(key -> key)
                .distinct()
                .sorted()
                .toList();
    }

    /** Whether calls of this thread wait for no turn. */
    private boolean isOutside(@Nullable Caller caller) {
        boolean detour = caller != null && caller.isOutside();
        return detour
                || transactions.isActive()
                || transactions.isEndHidden()
                || LoadInProgress.depth() > (caller == null ? 0 : caller.reads());
    }

    private <T, X extends Throwable> @Nullable T inTurns(List<CacheKey<?>> keys, Action<T, X> action) throws X {
        long since = System.nanoTime();
        Deque<Turn> turns = new ArrayDeque<>();
        try {
            for (CacheKey<?> key : keys) {
                Turn turn = lanes.enter(key, false, since);
                if (turn != null) {
                    turns.push(turn);
                }
            }
            return turns.size() == keys.size() ? action.run() : runOutside(action);
        } finally {
            turns.forEach(lanes::leave);
        }
    }

    /** The reader that has the turn may wait for the end of this update, so calls inside it wait for no turn. */
    private <T, X extends Throwable> @Nullable T runOutside(Action<T, X> action) throws X {
        Caller caller = requireNonNull(lanes.caller());
        caller.beginOutside();
        try {
            return action.run();
        } finally {
            caller.endOutside();
        }
    }
}
