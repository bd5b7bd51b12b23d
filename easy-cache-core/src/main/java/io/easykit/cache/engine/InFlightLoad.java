package io.easykit.cache.engine;

import io.easykit.cache.store.Envelope;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The current load of one key in this JVM, and the result for other readers of the key. */
final class InFlightLoad<V> {

    /** How long a reader whose waiting time is over still waits for the load of another such reader. */
    static final Duration GRACE = Duration.ofMillis(500);

    private final Thread owner = Thread.currentThread();
    private final long startedAt = System.nanoTime();
    private final CompletableFuture<LoadResult<V>> landing = new CompletableFuture<>();

    /** Whether the calling thread flies this one itself: a loader that reads its own key must not wait for itself. */
    boolean isOwnedByCallingThread() {
        return owner == Thread.currentThread();
    }

    /**
     * Whether it takes so long that new readers must not wait for it. Real time, as for all waiting readers.
     *
     * @param waiting how long they would wait
     */
    boolean isStuck(Duration waiting) {
        Duration longest = waiting.compareTo(GRACE) < 0 ? GRACE : waiting;
        return System.nanoTime() - startedAt > longest.toNanos();
    }

    /** Completes the load. Failures that concern its owner only, such as an interrupt, are not shared. */
    void complete(LoadResult<V> result) {
        Throwable failure = result.failure();
        landing.complete(failure != null && OwnerFailures.contain(failure) ? LoadResult.ownOnly(null) : result);
    }

    /** The landing of this flight or of another, whichever is first; null when the time is over. */
    @Nullable LoadResult<V> await(@Nullable InFlightLoad<V> other, long nanos) throws InterruptedException {
        CompletableFuture<?> first = other == null ? landing : CompletableFuture.anyOf(landing, other.landing);
        try {
            first.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            return null;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
        return landing.isDone() || other == null ? landing.join() : other.landing.join();
    }

    /**
     * The result of a load.
     *
     * @param asOf ticker time at which the value was current, in nanoseconds: start of the load or, if the store was
     *     accepted, the time the store command was sent
     * @param use who may use the value
     * @param snapshot the encoded value, from which {@link ValueEnvelopes} decodes an object for each of several readers;
     *     null if that is unnecessary or impossible
     */
    record LoadResult<V>(
            @Nullable V value, @Nullable Throwable failure, long asOf, Use use, @Nullable Envelope snapshot) {

        enum Use {
            SHARED,
            /** Shared, but not stored: the key was invalidated during the load, or another load was stored. */
            OVERTAKEN,
            /** For the owner alone; the others try again. */
            OWN,
            /** For the pilot alone; the others load for themselves, since a value that can be shared may never come. */
            UNSTORABLE
        }

        static <V> LoadResult<V> of(@Nullable V value, long asOf) {
            return new LoadResult<>(value, null, asOf, Use.SHARED, null);
        }

        static <V> LoadResult<V> failed(Throwable failure, long asOf) {
            return new LoadResult<>(null, failure, asOf, Use.SHARED, null);
        }

        static <V> LoadResult<V> ownOnly(@Nullable V value) {
            return new LoadResult<>(value, null, 0, Use.OWN, null);
        }

        static <V> LoadResult<V> rejected(@Nullable V value, long asOf) {
            return new LoadResult<>(value, null, asOf, Use.OVERTAKEN, null);
        }

        /** The value or the failure of a load that saw what may neither be stored nor shared. */
        static <V> LoadResult<V> unstorable(@Nullable V value, @Nullable Throwable failure) {
            return new LoadResult<>(value, failure, 0, Use.UNSTORABLE, null);
        }

        boolean shared() {
            return use == Use.SHARED || use == Use.OVERTAKEN;
        }

        boolean overtaken() {
            return use == Use.OVERTAKEN;
        }

        boolean unstorable() {
            return use == Use.UNSTORABLE;
        }

        LoadResult<V> snapshot(Envelope bytes) {
            return new LoadResult<>(value, failure, asOf, use, bytes);
        }

        /** Whether a reader may have the result. */
        boolean serves(ReadRequest<V> read) {
            return shared() && read.isFreshEnough(asOf);
        }

        @Nullable V get() throws Throwable {
            if (failure != null) {
                throw failure;
            }
            return value;
        }
    }
}
