package io.easykit.cache.engine;

import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.DispatchTurn.Step;
import io.easykit.cache.engine.SingleFlight.Joined;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Fetched;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A read without a hit that holds no thread while it waits. It follows the rules of {@link CacheDispatcher}, joins the same loads, and
 * takes its decisions from the same classes: {@link DispatchTurn}, {@link SingleFlight}, {@link EntryPoller}, {@link StoredLoads}. An
 * overdue reader goes on by a call that waits, since it may need a permit.
 */
final class AsyncMiss<V> {

    private final AsyncCall<V> call;
    private final ReadRequest<V> read;
    private final ReadParts parts;
    private final ReadCount count;
    private final Function<ReadRequest<V>, LoadResult<V>> overdue;
    private final Ticker ticker;

    /** @param overdue reads on the calling thread, when the waiting time is over */
    AsyncMiss(
            AsyncCall<V> call,
            ReadParts parts,
            ReadCount count,
            Function<ReadRequest<V>, LoadResult<V>> overdue,
            Ticker ticker) {
        this.call = call;
        this.read = call.read();
        this.parts = parts;
        this.count = count;
        this.overdue = overdue;
        this.ticker = ticker;
    }

    private static <T> CompletableFuture<T> done(T result) {
        return CompletableFuture.completedFuture(result);
    }

    CompletableFuture<LoadResult<V>> fetch(Snapshot seen) {
        return CacheDispatcher.mayBeServed(read, seen) ? decide() : join();
    }

    private CompletableFuture<LoadResult<V>> fetchAgain() {
        return call.readEntry(reply -> {
            Snapshot seen = reply.get();
            Decoded<V> hit = parts.entries().fresh(read.key(), seen);
            if (hit == null) {
                return fetch(seen);
            }
            parts.refreshes().startIfDue(read, seen);
            return done(new LoadResult.Unshared<>(hit.value()));
        });
    }

    /** There is a stale value that the store may return: then no reader waits. */
    private CompletableFuture<LoadResult<V>> decide() {
        return call.fetch(reply -> {
            Fetched fetched = reply.get();
            if (fetched instanceof Fetched.Served answer) {
                return serve(answer).thenCompose(served -> {
                    if (served == null) {
                        return join();
                    }
                    count.hit(answer.stale() ? Hit.STALE : Hit.FRESH);
                    return done(new LoadResult.Unshared<>(served.value()));
                });
            }
            if (fetched instanceof Fetched.NeedQuery) {
                count.miss();
                return runAsOwner(parts.flights().lead(read.key(), call), fetched);
            }
            return join();
        });
    }

    /** The fetched value, with a refresh if it is due; null if it is unreadable. */
    private CompletableFuture<@Nullable Decoded<V>> serve(Fetched.Served fetched) {
        Decoded<V> decoded = parts.entries().decode(read.key(), fetched);
        return decoded != null && fetched instanceof Fetched.SuccessNeedQuery due
                ? parts.refreshes().refreshLater(call, due.lease(), decoded).thenApply(served -> served)
                : CompletableFuture.completedFuture(decoded);
    }

    /** Joins this JVM's load of the key. */
    private CompletableFuture<LoadResult<V>> join() {
        count.miss();
        return call.join(parts.flights(), read.remainingWait(ticker), joined -> {
            if (joined instanceof Joined.Owner<V> own) {
                return runAsOwner(own.load(), null);
            } else if (joined instanceof Joined.Served<V> served) {
                return done(served.result());
            } else if (joined instanceof Joined.Alone) {
                return parts.uncachedLoads().loadLater(call);
            } else if (joined instanceof Joined.Overdue) {
                return done(overdue.apply(read));
            }
            return fetchAgain();
        });
    }

    /** Loads, shares the result, and repeats the load once for a CP reader if an update overtook it. */
    private CompletableFuture<LoadResult<V>> runAsOwner(InFlightLoad<V> mine, @Nullable Fetched first) {
        return run(mine, first).thenCompose(result -> {
            boolean repeat =
                    result instanceof LoadResult.Superseded && read.options().consistency() == Consistency.CP;
            return repeat ? repeated(result) : done(result);
        });
    }

    private CompletableFuture<LoadResult<V>> run(InFlightLoad<V> mine, @Nullable Fetched first) {
        DispatchTurn turn = new DispatchTurn();
        return call.run(parts.flights(), mine, () -> first == null ? fetch(turn) : act(turn, first, ticker.nanoTime()));
    }

    /** The next load, own or not; the superseded one if there is none. */
    private CompletableFuture<LoadResult<V>> repeated(LoadResult<V> superseded) {
        return call.join(parts.flights(), read.remainingWait(ticker), joined -> {
                    if (joined instanceof Joined.Owner<V> own) {
                        return run(own.load(), null);
                    }
                    return done(joined instanceof Joined.Served<V> served ? served.result() : superseded);
                })
                .thenApply(next -> CacheDispatcher.isNone(next) ? superseded : next);
    }

    private CompletableFuture<LoadResult<V>> fetch(DispatchTurn turn) {
        long requestedAt = ticker.nanoTime();
        return call.fetch(reply -> act(turn, reply.get(), requestedAt));
    }

    private CompletableFuture<LoadResult<V>> act(DispatchTurn turn, Fetched fetched, long requestedAt) {
        Step step = turn.after(fetched);
        return perform(step, fetched, requestedAt).thenCompose(result -> {
            if (result != null) {
                return done(result);
            }
            Step next = turn.afterNone(step, read.remainingWait(ticker));
            return next == Step.FETCH ? fetch(turn) : parts.uncachedLoads().joinLater(call);
        });
    }

    /** Null without a result. No such reader is pausable. */
    private CompletableFuture<@Nullable LoadResult<V>> perform(Step step, Fetched fetched, long requestedAt) {
        return switch (step) {
            case LOAD -> orNull(parts.loads().loadLater(call, ((Fetched.NeedQuery) fetched).lease()));
            case SERVE -> served((Fetched.Served) fetched, requestedAt);
            case AWAIT_LOAD ->
                orNull(parts.otherNodes().awaitLoadLater(call, ((Fetched.NeedWait) fetched).leaseLeft()));
            case AWAIT_UPDATE -> orNull(parts.otherNodes().awaitUpdateLater(call));
            case LOAD_UNSTORED, LOAD_BESIDE -> orNull(parts.uncachedLoads().joinLater(call));
            case FETCH -> CompletableFuture.completedFuture(null);
        };
    }

    private static <V> CompletableFuture<@Nullable LoadResult<V>> orNull(
            CompletableFuture<? extends @Nullable LoadResult<V>> result) {
        return result.thenApply(any -> any);
    }

    /** The value that was fetched for all readers; null if it is unreadable. */
    private CompletableFuture<@Nullable LoadResult<V>> served(Fetched.Served fetched, long requestedAt) {
        return serve(fetched)
                .thenApply(served ->
                        served == null ? null : CacheDispatcher.sharedAs(fetched, served.value(), requestedAt));
    }
}
