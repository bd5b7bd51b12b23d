package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.Consistency;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Loader;
import io.easykit.cache.Transactions;
import io.easykit.cache.async.Futures;
import io.easykit.cache.async.Steps;
import io.easykit.cache.engine.AsyncCall.Source;
import io.easykit.cache.engine.Epochs.Known;
import io.easykit.cache.engine.NearEntries.Stamp;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Reads one value without a thread that waits, with the decisions of {@link CacheDispatcher} and {@link FallbackReader}.
 *
 * <p>A value of the near level, or of the local level while the store is away, is returned at once on the thread of the caller. Then
 * the entry is read. What follows the reply runs in steps on threads of the cache: a fresh hit ends there, a miss goes on as an
 * {@link AsyncMiss}. No step runs on a thread of the store's client, since a step calls code of the application.
 *
 * <h2>With a thread</h2>
 *
 * These need the thread of a step as long as they wait: reads while the store is away and just after, whose loads need a permit; reads
 * whose waiting time is over; caches whose readers may have an expired value; and reads whose thread has a transaction, bound there by
 * the context of the caller. They use the blocking calls. So do the first read of the epochs and the removal of an unreadable value.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the promise is what ends
final class AsyncReader {

    private final CacheDispatcher normal;
    private final FallbackReader fallback;
    private final ReadParts parts;
    private final NearLevel near;
    private final Freshness freshness;
    private final LoadBulkhead limit;
    private final Source source;
    private final Transactions transactions;
    private final CacheListener listener;

    AsyncReader(
            CacheDispatcher normal,
            FallbackReader fallback,
            ReadParts parts,
            NearLevel near,
            Source source,
            Shared shared) {
        this.normal = normal;
        this.fallback = fallback;
        this.parts = parts;
        this.near = near;
        this.source = source;
        this.freshness = shared.freshness();
        this.limit = shared.limit();
        this.transactions = shared.transactions();
        this.listener = source.listener();
    }

    /** What all readers of one Redis share. */
    record Shared(Freshness freshness, LoadBulkhead limit, Transactions transactions) {}

    /** Whether the store can be called without a thread that waits. */
    boolean isPossible() {
        return source.store().isAsynchronous();
    }

    /**
     * Reads a value.
     *
     * @param waiting the same read on the calling thread, which waits
     */
    <V> CompletableFuture<@Nullable V> fetch(
            ReadRequest<V> read, Loader.Later<V> loader, Futures futures, Futures.Work<V> waiting) {
        Decoded<V> kept = kept(read);
        if (kept != null) {
            return CompletableFuture.completedFuture(kept.value());
        }
        Steps steps;
        try {
            steps = futures.open();
        } catch (RejectedExecutionException stopped) {
            return CompletableFuture.failedFuture(stopped);
        }
        CompletableFuture<@Nullable V> promise = new CompletableFuture<>();
        AsyncCall<V> call = new AsyncCall<>(read, loader, steps, source);
        begin(call, waiting).whenComplete((result, failure) -> end(promise, call, result, failure));
        return promise;
    }

    /** The value that is in this JVM, if it may be returned. */
    private <V> @Nullable Decoded<V> kept(ReadRequest<V> read) {
        Decoded<V> nearHit = normal.nearHit(read);
        if (nearHit != null
                || read.options().consistency() == Consistency.CP
                || source.store().isAvailable(read.key())
                || LoadBulkhead.mayBeInside()) {
            return nearHit;
        }
        Decoded<V> known = fallback.known(read);
        if (known != null) {
            listener.onHit(read.key(), Hit.LOCAL);
        }
        return known;
    }

    private <V> CompletableFuture<LoadResult<V>> begin(AsyncCall<V> call, Futures.Work<V> waiting) {
        CacheKey<V> key = call.read().key();
        try {
            // Before the epoch: a clearing in between changes the stamp.
            Stamp stamp = near.stamp(call.read());
            Reading<V> reading = new Reading<>(call, stamp, call.guarded(), waiting);
            Known known = source.epochs().known(key);
            return known != null
                    ? readFirst(reading, known)
                    : call.step(() -> {
                        Reading<V> again = new Reading<>(call, stamp, call.guarded(), waiting);
                        boolean clearing = source.epochs().isClearing(key);
                        return readFirst(again, new Known(source.epochs().of(key), clearing));
                    });
        } catch (Throwable failure) {
            // Also an error: the caller gets it with the future, and the steps of the call end.
            return CompletableFuture.failedFuture(failure);
        }
    }

    /**
     * The first read of a call.
     *
     * @param guarded prepared before the epochs are checked
     * @param waiting the same read on a thread that waits
     */
    private record Reading<V>(AsyncCall<V> call, @Nullable Stamp stamp, GuardedCall guarded, Futures.Work<V> waiting) {}

    private <V> CompletableFuture<LoadResult<V>> readFirst(Reading<V> reading, Known epoch) {
        AsyncCall<V> call = reading.call();
        ReadRequest<V> read = call.read();
        // Checked before the read: its reply cannot reflect an invalidation that is delivered afterwards.
        boolean unusable = epoch.clearing() || freshness.isUndelivered(read.key());
        return call.ask(reading.guarded(), new EntryCall.Read(read.key(), epoch.epoch()), reply -> {
            Snapshot seen = reply.get();
            Decoded<V> hit = unusable ? null : parts.entries().fresh(read.key(), seen);
            if (hit == null) {
                return missed(call, seen, unusable, reading.waiting());
            }
            normal.reportFresh(read, reading.stamp(), seen, hit);
            return CompletableFuture.completedFuture(new LoadResult.Unshared<>(hit.value()));
        });
    }

    private <V> CompletableFuture<LoadResult<V>> missed(
            AsyncCall<V> first, Snapshot seen, boolean unusable, Futures.Work<V> waiting) {
        if (!first.loader().mayBeCached()) {
            return uncached(first.loader());
        }
        ReadRequest<V> read = freshness.requiredFor(first.read());
        if (needsThread(read)) {
            return CompletableFuture.completedFuture(resultOf(waiting));
        }
        AsyncCall<V> call = first.with(read);
        ReadCount count = first.count();
        if (unusable) {
            count.miss();
            return parts.uncachedLoads().joinLater(call);
        }
        return new AsyncMiss<>(
                        call, parts, count, late -> normal.fetchMissed(late, Snapshot.NOTHING, count), source.ticker())
                .fetch(seen);
    }

    private boolean needsThread(ReadRequest<?> read) {
        if (ExpiredValues.areUsedBy(read) || limit.isFading()) {
            return true;
        }
        try (LoadScope scope = transactions.openLoadScope()) {
            return scope != LoadScope.DIRECT;
        }
    }

    private <V> CompletableFuture<LoadResult<V>> uncached(Loader.Later<V> loader) {
        CompletableFuture<? extends @Nullable V> value;
        try {
            value = Futures.of(loader.begin());
        } catch (Throwable failure) {
            return CompletableFuture.completedFuture(failed(failure));
        }
        return value.handle((loaded, failure) ->
                failure == null ? new LoadResult.Unshared<V>(loaded) : failed(Futures.unwrapped(failure)));
    }

    private <V> LoadResult<V> resultOf(Futures.Work<V> waiting) {
        try {
            return new LoadResult.Unshared<>(waiting.run());
        } catch (Throwable failure) {
            return failed(failure);
        }
    }

    private <V> LoadResult<V> failed(Throwable failure) {
        return new LoadResult.Failed<>(failure, source.ticker().nanoTime());
    }

    private <V> void end(
            CompletableFuture<@Nullable V> promise,
            AsyncCall<V> call,
            @Nullable LoadResult<V> result,
            @Nullable Throwable thrown) {
        if (failureOf(result, thrown) instanceof StoreUnavailableException away) {
            call.step(() -> withoutStore(call, away))
                    .whenComplete((without, rejected) -> complete(promise, call, without, rejected));
        } else {
            complete(promise, call, result, thrown);
        }
    }

    /** If the first call of the read has failed, the read was not checked before. */
    private <V> CompletableFuture<LoadResult<V>> withoutStore(AsyncCall<V> call, StoreUnavailableException away) {
        return call.loader().mayBeCached()
                ? CompletableFuture.completedFuture(
                        resultOf(() -> fallback.fetchWithoutStore(call.read(), away, call.count())))
                : uncached(call.loader());
    }

    private static <V> void complete(
            CompletableFuture<@Nullable V> promise,
            AsyncCall<V> call,
            @Nullable LoadResult<V> result,
            @Nullable Throwable thrown) {
        Throwable failure = failureOf(result, thrown);
        if (failure != null) {
            promise.completeExceptionally(failure);
        } else {
            promise.complete(result == null ? null : result.value());
        }
        call.end();
    }

    private static @Nullable Throwable failureOf(@Nullable LoadResult<?> result, @Nullable Throwable thrown) {
        if (thrown != null) {
            return Futures.unwrapped(thrown);
        }
        return result == null ? null : result.failure();
    }
}
