package io.easykit.cache.engine;

import io.easykit.cache.store.Envelope;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** This JVM's present effort for one key, and what others who want the key may have of it. */
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
     * Whether it takes so long that those who come now must not count on it. Real time, as for all who wait for it.
     *
     * @param waiting how long they would wait
     */
    boolean isStuck(Duration waiting) {
        Duration longest = waiting.compareTo(GRACE) < 0 ? GRACE : waiting;
        return System.nanoTime() - startedAt > longest.toNanos();
    }

    /** Ends the flight. A failure that concerns its pilot only, such as an interrupt, is nobody else's. */
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
     * What a flight brought.
     *
     * @param asOf a moment, in nanoseconds of the ticker, at which the value is known to have been the current one: when
     *     the load began or, later, when the store that was accepted was sent
     * @param use what may be done with it
     * @param snapshot the value in bytes, from which {@link ValueEnvelopes} gives each of several readers an object of its own;
     *     null if there is no need, or no way
     */
    record LoadResult<V>(
            @Nullable V value, @Nullable Throwable failure, long asOf, Use use, @Nullable Envelope snapshot) {

        enum Use {
            SHARED,
            /** Shared, but not stored: the key was invalidated during the load, or another load was stored. */
            OVERTAKEN,
            /** For the pilot alone; the others look again. */
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
