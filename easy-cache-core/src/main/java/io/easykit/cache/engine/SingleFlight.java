package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who loads a key in this JVM, and who waits for it: one load of a key at a time, for all of its readers.
 *
 * <h2>States of a key</h2>
 *
 * <pre>
 *               join, lead                  run
 *     (none) ----------------> one load --------------> (none)
 *                               |    ^
 *                               +----+
 *                  lead, replace: a new owner. The former load
 *                  goes on, and serves the readers that wait for it.
 * </pre>
 *
 * <p>The first reader that joins becomes the owner and runs the load. Others wait for the result, each as long as it likes.
 * A reader may have the result if that is fresh enough for it. If not, it joins again; since all such readers have waited for
 * the same load, the next one serves them all. A reader never waits for a load that its own thread runs, nor for one that has
 * run longer than a reader may wait: the loader may hang.
 *
 * <h2>Two of them</h2>
 *
 * <p>Loads that are stored ({@link CacheDispatcher}) and loads that are not ({@link UncachedLoads}) have one of these each, so
 * a key is in one of four states:
 *
 * <table>
 * <caption>Running loads of a key</caption>
 * <tr><th>stored</th><th>not stored</th><th>meaning</th></tr>
 * <tr><td>no</td><td>no</td><td>nothing to do, or all readers have a hit</td></tr>
 * <tr><td>yes</td><td>no</td><td>its owner decides with the store, loads and stores; the others wait</td></tr>
 * <tr><td>yes</td><td>yes</td><td>the owner may not store its value, or others do not wait for it any longer</td></tr>
 * <tr><td>no</td><td>yes</td><td>the store is away, or may have an old value</td></tr>
 * </table>
 *
 * <p>The owner of a stored load may wait for one that is not stored, never the other way round. So two owners do not wait
 * for each other.
 */
final class SingleFlight {

    private final ValueEnvelopes values;
    private final CacheListener listener;
    private final Ticker ticker;
    private final Map<CacheKey<?>, InFlightLoad<?>> inFlight = new ConcurrentHashMap<>();

    SingleFlight(ValueEnvelopes values, CacheListener listener, Ticker ticker) {
        this.values = values;
        this.listener = listener;
        this.ticker = ticker;
    }

    /** The next step of a reader that has joined. */
    sealed interface Joined<V> {

        /** There was no load: {@linkplain #run run} this one. */
        record Owner<V>(InFlightLoad<V> load) implements Joined<V> {}

        /** Another reader runs this load: {@linkplain #await wait} for it, or not. */
        record Running<V>(InFlightLoad<V> load) implements Joined<V> {}

        /** Take this result. */
        record Served<V>(LoadResult<V> result) implements Joined<V> {}

        /** Try again: the result is too old for this reader, or there is none for it. */
        record Again<V>() implements Joined<V> {}

        /** Load alone: the load is of the same thread or of another type, or its result may not be shared. */
        record Alone<V>() implements Joined<V> {}

        /**
         * Do not wait any longer.
         *
         * @param stuck whether the load hangs, perhaps, instead of the reader being late
         */
        record Overdue<V>(InFlightLoad<V> load, boolean stuck) implements Joined<V> {}
    }

    /**
     * Joins the load of a key, and waits for its result unless there was none. An interrupt ends the wait, and stays set.
     *
     * @param nanos maximum time to wait
     * @param beside a second load of the key; the first of the two to end is used. Null if there is none
     */
    <V> Joined<V> join(ReadRequest<V> read, long nanos, @Nullable InFlightLoad<V> beside) {
        Joined<V> joined = tryJoin(read.key());
        return joined instanceof Joined.Running<V> other ? await(read, other.load(), nanos, beside) : joined;
    }

    /** Joins the load of a key, and does not wait: becomes its owner, or returns the load that runs, or that its own thread runs. */
    <V> Joined<V> tryJoin(CacheKey<V> key) {
        return tryJoin(key, Thread.currentThread());
    }

    /** @param owner of the load, if there is none */
    <V> Joined<V> tryJoin(CacheKey<V> key, Object owner) {
        InFlightLoad<V> mine = new InFlightLoad<>(key, owner);
        InFlightLoad<V> running = putIfAbsent(key, mine);
        if (running == null) {
            return new Joined.Owner<>(mine);
        }
        return running.isOwnedByCallingThread() || !running.isOfTypeOf(key)
                ? new Joined.Alone<>()
                : new Joined.Running<>(running);
    }

    /** Waits for the load of another reader. See {@link #join}. */
    <V> Joined<V> await(ReadRequest<V> read, InFlightLoad<V> running, long nanos, @Nullable InFlightLoad<V> beside) {
        boolean stuck = isStuck(read, running);
        LoadResult<V> result = stuck || nanos <= 0 ? null : result(read, running, nanos, beside);
        return result == null ? new Joined.Overdue<>(running, stuck) : joined(read, result);
    }

    /** Whether a reader must not wait for a load, which may never end. */
    static boolean isStuck(ReadRequest<?> read, InFlightLoad<?> running) {
        return !running.isDone() && running.isStuck(read.options().loadWaitTimeout());
    }

    /** What a reader does with the result of a load of another reader. */
    <V> Joined<V> joined(ReadRequest<V> read, LoadResult<V> result) {
        if (result instanceof LoadResult.Unsharable) {
            return new Joined.Alone<>();
        }
        return result instanceof LoadResult.Shared<V> shared && read.isFreshEnough(shared.asOf())
                ? new Joined.Served<>(values.copyFor(shared, read.key()))
                : new Joined.Again<>();
    }

    private <V> @Nullable LoadResult<V> result(
            ReadRequest<V> read, InFlightLoad<V> running, long nanos, @Nullable InFlightLoad<V> beside) {
        long from = ticker.nanoTime();
        try {
            return running.await(beside, nanos);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return null;
        } finally {
            listener.onWait(read.key(), Duration.ofNanos(ticker.nanoTime() - from));
        }
    }

    boolean isRunning(CacheKey<?> key) {
        return inFlight.containsKey(key);
    }

    /** A new load, which the caller has to run; null if there is one already. */
    <V> @Nullable InFlightLoad<V> tryLead(CacheKey<V> key) {
        InFlightLoad<V> mine = new InFlightLoad<>(key);
        return putIfAbsent(key, mine) == null ? mine : null;
    }

    /** A new load, which the caller has to run; also if there is one already. */
    <V> InFlightLoad<V> lead(CacheKey<V> key) {
        return lead(key, Thread.currentThread());
    }

    <V> InFlightLoad<V> lead(CacheKey<V> key, Object owner) {
        InFlightLoad<V> mine = new InFlightLoad<>(key, owner);
        inFlight.put(key, mine);
        return mine;
    }

    /** A new load in place of another one, which the caller has to run; null if the other one is over. */
    <V> @Nullable InFlightLoad<V> replace(CacheKey<V> key, InFlightLoad<V> other) {
        InFlightLoad<V> mine = new InFlightLoad<>(key);
        return inFlight.replace(key, other, mine) ? mine : null;
    }

    /** Runs the caller's load, and gives its result to the readers that wait. */
    <V> LoadResult<V> run(CacheKey<V> key, InFlightLoad<V> mine, Supplier<LoadResult<V>> work) {
        LoadResult<V> result = new LoadResult.Unshared<>(null);
        try {
            result = work.get();
        } finally {
            complete(key, mine, result);
        }
        return result;
    }

    /** Ends the caller's load, and gives its result to the readers that wait. */
    <V> void complete(CacheKey<V> key, InFlightLoad<V> mine, LoadResult<V> result) {
        inFlight.remove(key, mine);
        LoadResult<V> shared = new LoadResult.Unshared<>(null);
        try {
            shared = values.snapshot(result, key);
        } finally {
            mine.complete(shared);
        }
    }

    @SuppressWarnings("unchecked") // tryJoin compares the types
    private <V> @Nullable InFlightLoad<V> putIfAbsent(CacheKey<V> key, InFlightLoad<V> load) {
        return (InFlightLoad<V>) inFlight.putIfAbsent(key, load);
    }
}
