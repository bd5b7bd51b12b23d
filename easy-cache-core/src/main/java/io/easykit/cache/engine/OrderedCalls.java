package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.Lane.Caller;
import io.easykit.cache.engine.Lane.Turn;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ForkJoinWorkerThread;
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
 * fails, no transaction begins. Redis may lose the preparation during a long action, so the keys are prepared again before the
 * commit, like those of any transaction. If the commit fails, or its outcome is unknown, the keys are invalidated as well. A write of
 * several keys takes their turns one after the other in the order of the keys, so two of them never wait for each other. The
 * bound of its wait is for all of them together. A write that runs outside the order has a transaction of its own, too.
 * So has a write of all entries. It waits for no turn itself, only for those of the other keys of its update.
 *
 * <h2>Calls inside calls</h2>
 *
 * A call outside the order does not wait for a turn, because others may wait for something that its thread holds. The first
 * row that fits decides:
 *
 * <table>
 * <caption>Calls</caption>
 * <tr><th>the thread of the call</th><th>the call</th></tr>
 * <tr><td>has the turn of the key</td><td>runs at once, in that turn</td></tr>
 * <tr><td>is inside an update that runs outside the order, because its wait would have closed a circle of waiting callers
 *     ({@link WaitCircle})</td><td>is outside</td></tr>
 * <tr><td>is inside a transaction that began before, or after its end while the connection is still in use. The snapshot of
 *     the transaction may be older than the turn, too</td><td>is outside</td></tr>
 * <tr><td>has a permit for a load ({@link LoadBulkhead})</td><td>is outside: readers that have a turn wait for permits</td></tr>
 * <tr><td>is inside a load that belongs to no turn of the thread: of a cache without order, of another thread, or of a
 *     refresh</td><td>is outside</td></tr>
 * <tr><td>was created by an action in turn that still runs ({@link ActionThreads})</td><td>is outside</td></tr>
 * <tr><td>is of a fork-join pool, and may work for any load or action</td><td>takes the turn of an idle key, and waits for
 *     none</td></tr>
 * <tr><td>is any other</td><td>waits for its turn, unless that closes a circle of waiting callers. Then it runs outside</td></tr>
 * </table>
 *
 * <p>Two cases are not recognized, and such a caller waits. A session that is open without a transaction keeps its connection
 * meanwhile. An action that waits for a thread of another pool must not use its own key there.
 *
 * <p>A read outside the order whose thread has a turn, or is inside a load, never waits for another caller. It uses a fresh hit, or
 * the turn of an idle key, which it shares with no other read. Otherwise it loads without storing.
 *
 * <p>Refreshes in the background have no turn. They return nothing to a caller, and their fencing token is rejected if a write
 * was prepared or ended since their load began.
 *
 * <h2>Failures</h2>
 *
 * A call that gets no turn in time, or is interrupted before, never runs. A turn ends with its call, also if that throws. A
 * crash ends the lanes with the JVM, and leaves the same in Redis as without order. No thread belongs to the
 * lanes, so a stop lets the calls that wait have their turns.
 */
final class OrderedCalls {

    private final KeyLanes lanes;
    private final Updates updates;
    private final ActionThreads actionThreads = new ActionThreads();
    private final Transactions transactions;
    private final Ticker ticker;

    OrderedCalls(Updates updates, EngineContext engine) {
        this.lanes = new KeyLanes(engine.listener());
        this.updates = updates;
        this.transactions = engine.transactions();
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
    <V> @Nullable V fetch(FallbackReader reader, CacheKey<V> key, LongFunction<ReadRequest<V>> read) throws Throwable {
        Caller caller = lanes.caller();
        if (caller != null && caller.holds(key)) {
            return fetchInTurn(reader, read, null);
        }
        boolean helps = mayHelpAnotherThread();
        boolean outside = helps || isOutside(caller);
        if (outside && !helps && caller == null && LoadInProgress.depth() == 0) {
            return reader.fetch(read.apply(ticker.nanoTime()));
        }
        StoreUnavailableException away = null;
        if (outside || lanes.isIdle(key)) {
            try {
                Decoded<V> hit = reader.freshHit(read.apply(ticker.nanoTime()));
                if (hit != null) {
                    return hit.value();
                }
            } catch (StoreUnavailableException failure) {
                away = failure;
            }
        }
        Turn turn = null;
        try {
            turn = outside ? lanes.tryEnter(key) : lanes.enter(key, true, System.nanoTime());
            return turn == null
                    ? reader.loadAlone(read.apply(ticker.nanoTime()), away)
                    : fetchInTurn(reader, read, away);
        } finally {
            if (turn != null) {
                lanes.leave(turn);
            }
        }
    }

    /** @param away null unless the first read of the store has found it away: a second one could wait as long again */
    private <V> @Nullable V fetchInTurn(
            FallbackReader reader, LongFunction<ReadRequest<V>> read, @Nullable StoreUnavailableException away)
            throws Throwable {
        Caller caller = requireNonNull(lanes.caller());
        ReadRequest<V> request = read.apply(ticker.nanoTime());
        caller.beginRead();
        try {
            return away == null ? reader.fetch(request) : reader.fetchWithoutStore(request, away);
        } finally {
            caller.endRead();
        }
    }

    /** Runs an update when it is the turn of its keys, in a transaction of its own. The action may change the collection of the keys. */
    <T, X extends Throwable> @Nullable T update(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        List<CacheKey<?>> now = List.copyOf(keys);
        return inOrder(now, () -> updates.around(now, () -> inOwnTransaction(now, action)));
    }

    /** Runs the action of an update, in a new transaction if a key is serial and the thread has no transaction. */
    private <T, X extends Throwable> @Nullable T inOwnTransaction(
            Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        boolean serial = keys.stream().anyMatch(OrderedCalls::isSerial);
        return serial && !isAmidTransaction()
                ? transactions.inNewTransaction(
                        () -> transactions.isActive() ? updates.inTransaction(keys, action) : action.run())
                : action.run();
    }

    /** The same for an action that does its work in the current transaction, or in one that it begins. */
    <T, X extends Throwable> @Nullable T updateInTransaction(
            Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        List<CacheKey<?>> now = List.copyOf(keys);
        return inOrder(now, () -> updates.inTransaction(now, action));
    }

    /** Runs an action when it is the turn of some keys. */
    <T, X extends Throwable> @Nullable T inOrder(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        List<CacheKey<?>> needed = withoutTurn(keys);
        return needed.isEmpty() ? action.run() : inTurns(needed, action);
    }

    /** The serial keys of single entries, in their order, that need a turn which this thread does not have. */
    private List<CacheKey<?>> withoutTurn(Collection<? extends CacheKey<?>> keys) {
        Caller caller = lanes.caller();
        if (keys.stream().noneMatch(OrderedCalls::isSerial) || isOutside(caller)) {
            return List.of();
        }
        return keys.stream()
                .filter(key -> isSerial(key) && !key.isAll() && (caller == null || !caller.holds(key)))
                .<CacheKey<?>>map(key -> key)
                .distinct()
                .sorted()
                .toList();
    }

    /** Whether calls of this thread wait for no turn: others may wait for a lane or a load that it holds. */
    private boolean isOutside(@Nullable Caller caller) {
        boolean detour = caller != null && caller.isOutside();
        return detour
                || isAmidTransaction()
                || LoadBulkhead.isInside()
                || LoadInProgress.depth() > (caller == null ? 0 : caller.reads())
                || actionThreads.includeCallingThread();
    }

    /** Whether the thread works on a connection that is not its own alone, or that is not given back yet. */
    private boolean isAmidTransaction() {
        return transactions.isActive() || transactions.isEndHidden() || transactions.lateCommit() != null;
    }

    /** Whether a caller that waits, or its turn, may need this thread. */
    private boolean mayHelpAnotherThread() {
        return LoadInProgress.mayHelpAnotherThread()
                || (isForkJoinWorker() && lanes.size() > 0)
                || actionThreads.includeCallingThread();
    }

    private static boolean isForkJoinWorker() {
        return Thread.currentThread() instanceof ForkJoinWorkerThread;
    }

    private <T, X extends Throwable> @Nullable T inTurns(List<CacheKey<?>> keys, Action<T, X> action) throws X {
        long since = System.nanoTime();
        Deque<Turn> turns = new ArrayDeque<>();
        try {
            for (CacheKey<?> key : keys) {
                Turn turn = isForkJoinWorker() ? lanes.tryEnter(key) : lanes.enter(key, false, since);
                if (turn != null) {
                    turns.push(turn);
                }
            }
            Caller caller = lanes.caller();
            return caller == null || turns.size() == keys.size()
                    ? actionThreads.run(action)
                    : actionThreads.run(() -> runOutside(caller, action));
        } finally {
            turns.forEach(lanes::leave);
        }
    }

    /** The reader that has the turn may wait for the end of this update, so calls inside it wait for no turn. */
    private static <T, X extends Throwable> @Nullable T runOutside(Caller caller, Action<T, X> action) throws X {
        caller.beginOutside();
        try {
            return action.run();
        } finally {
            caller.endOutside();
        }
    }
}
