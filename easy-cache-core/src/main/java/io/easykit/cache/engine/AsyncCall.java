package io.easykit.cache.engine;

import io.easykit.cache.CacheListener;
import io.easykit.cache.Loader;
import io.easykit.cache.async.Futures;
import io.easykit.cache.async.Steps;
import io.easykit.cache.engine.SingleFlight.Joined;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A read that holds no thread while it waits: for the store, for the loads of others, for its loader, or for a time to pass. All that
 * follows such a wait is a step of its own, on a thread of the cache. The call itself is the owner of its loads, since its threads
 * change.
 */
@SuppressWarnings("FutureReturnValueIgnored") // of a stage inside a stage; and of a call whose reply nobody needs
final class AsyncCall<V> {

    private static final Logger log = LoggerFactory.getLogger(AsyncCall.class);

    private final ReadRequest<V> read;
    private final Loader.Later<V> loader;
    private final Steps steps;
    private final Source source;
    private @Nullable ReadCount count;

    AsyncCall(ReadRequest<V> read, Loader.Later<V> loader, Steps steps, Source source) {
        this.read = read;
        this.loader = loader;
        this.steps = steps;
        this.source = source;
    }

    /** What all calls of one Redis share. */
    record Source(GuardedStore store, Epochs epochs, CacheListener listener, Ticker ticker) {}

    ReadRequest<V> read() {
        return read;
    }

    Loader.Later<V> loader() {
        return loader;
    }

    /** Counts the call once. Used by one step at a time, and made when the call is no hit. */
    ReadCount count() {
        ReadCount known = count;
        if (known == null) {
            known = ReadCount.of(source.listener(), read.key());
            count = known;
        }
        return known;
    }

    /** The same call with another freshness. */
    AsyncCall<V> with(ReadRequest<V> other) {
        return new AsyncCall<>(other, loader, steps, source);
    }

    /** The call has ended. */
    void end() {
        steps.end();
    }

    /** Runs the next step on a thread of the cache. */
    <R> CompletableFuture<R> step(Supplier<CompletableFuture<R>> next) {
        return after(CompletableFuture.completedFuture(null), next);
    }

    /** Runs the next step when a wait has ended. */
    <R> CompletableFuture<R> after(CompletableFuture<?> wait, Supplier<CompletableFuture<R>> next) {
        return wait.thenComposeAsync(inContext(any -> next.get()), steps);
    }

    private static <T, R> Function<T, R> inContext(Function<T, R> step) {
        return given -> {
            Steps.requireContext();
            return step.apply(given);
        };
    }

    /** Prepares a call of the store. Comes before the check of the epochs. */
    GuardedCall guarded() {
        return source.store().later(read.key());
    }

    /** Calls the store. The next step receives the reply. */
    <T, R> CompletableFuture<R> ask(EntryCall<T> call, Function<EntryReply<T>, CompletableFuture<R>> next) {
        return ask(guarded(), call, next);
    }

    /** Makes a call that was prepared. */
    <T, R> CompletableFuture<R> ask(
            GuardedCall guarded, EntryCall<T> call, Function<EntryReply<T>, CompletableFuture<R>> next) {
        return guarded.send(call, steps, inContext(next)).thenCompose(result -> result);
    }

    /** Calls the store, and does not wait for the reply. */
    void send(EntryCall<?> call, String otherwise) {
        guarded().send(call, steps, EntryReply::failure).whenComplete((away, rejected) -> {
            Throwable failure = rejected == null ? away : rejected;
            if (failure != null) {
                log.debug("{}: {}", otherwise, call.key(), failure);
            }
        });
    }

    /** Reads the entry. */
    <R> CompletableFuture<R> readEntry(Function<EntryReply<Snapshot>, CompletableFuture<R>> next) {
        GuardedCall guarded = guarded();
        return ask(guarded, new EntryCall.Read(read.key(), source.epochs().of(read.key())), next);
    }

    /** Lets the store decide. See {@link StoredEntries#fetch}. */
    <R> CompletableFuture<R> fetch(Function<EntryReply<Fetched>, CompletableFuture<R>> next) {
        GuardedCall guarded = guarded();
        long epoch = source.epochs().of(read.key());
        return ask(guarded, new EntryCall.Fetch(read.key(), epoch, read.allowsStale()), next);
    }

    /** Calls the loader on this thread. The next step receives the result. */
    CompletableFuture<LoadResult<V>> load(
            LoadReport report, Function<LoadResult<V>, CompletableFuture<LoadResult<V>>> next) {
        CompletableFuture<LoadResult<V>> result = LoadInProgress.loadLater(loader, report.startedAt(), this);
        report.leave();
        return result.isDone()
                ? next.apply(owned(result.join()))
                : result.thenComposeAsync(inContext(ended -> next.apply(owned(ended))), steps);
    }

    private LoadResult<V> owned(LoadResult<V> ended) {
        return loader.belongsToKey() ? ended : ended.forCallerAlone();
    }

    /** As {@link SingleFlight#join}. The next step receives what to do. */
    <R> CompletableFuture<R> join(SingleFlight flights, long nanos, Function<Joined<V>, CompletableFuture<R>> next) {
        Joined<V> joined = flights.tryJoin(read.key(), this);
        return joined instanceof Joined.Running<V> other
                ? await(flights, other.load(), nanos, next)
                : next.apply(joined);
    }

    private <R> CompletableFuture<R> await(
            SingleFlight flights, InFlightLoad<V> running, long nanos, Function<Joined<V>, CompletableFuture<R>> next) {
        boolean stuck = SingleFlight.isStuck(read, running);
        if (stuck || nanos <= 0) {
            return next.apply(new Joined.Overdue<>(running, stuck));
        }
        long from = source.ticker().nanoTime();
        return running.later(nanos)
                .thenComposeAsync(
                        inContext(result -> {
                            long waited = source.ticker().nanoTime() - from;
                            source.listener().onWait(read.key(), Duration.ofNanos(waited));
                            return next.apply(
                                    result == null
                                            ? new Joined.Overdue<>(running, false)
                                            : flights.joined(read, result));
                        }),
                        steps);
    }

    /** As {@link SingleFlight#run}, for a load that ends with a future. A store that is away is a failure of the load. */
    CompletableFuture<LoadResult<V>> run(
            SingleFlight flights, InFlightLoad<V> mine, Supplier<CompletableFuture<LoadResult<V>>> work) {
        CompletableFuture<LoadResult<V>> running;
        try {
            running = work.get();
        } catch (Throwable failure) {
            running = CompletableFuture.failedFuture(failure);
        }
        return running.exceptionally(this::failed)
                .whenComplete((result, failure) ->
                        flights.complete(read.key(), mine, failure == null ? result : new LoadResult.Unshared<>(null)));
    }

    private LoadResult<V> failed(Throwable failure) {
        Throwable cause = Futures.unwrapped(failure);
        if (cause instanceof StoreUnavailableException away) {
            return new LoadResult.Failed<>(away, source.ticker().nanoTime());
        }
        throw new CompletionException(cause);
    }
}
