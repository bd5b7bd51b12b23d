package io.easykit.cache.style;

import io.easykit.cache.async.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** How a method returns its result: at once, by a future, or by a publisher. */
public interface CallStyle {

    /** The method returns when its work is done. */
    CallStyle BLOCKING =
            work -> work.run(new Place(Awaiter.NONE, Awaiter.NONE, CompletableFuture::completedFuture, false, false));

    /** The style of a method. */
    static CallStyle of(ReturnedValue returned, Futures futures) {
        if (returned.isFuture()) {
            return future(futures);
        }
        return returned.publisher() == null ? BLOCKING : new ReactiveStyle(returned.publisher(), futures);
    }

    private static CallStyle future(Futures futures) {
        return new FutureStyle(futures);
    }

    /** Runs work that may wait, and returns its value as the method would. */
    @Nullable Object run(Work work) throws Throwable;

    /** As {@link #run(Work)}. Inside a reactive transaction the method is called instead. */
    default @Nullable Object run(Work work, DirectCall direct) throws Throwable {
        return run(work);
    }

    /** Runs a read that holds no thread while it waits, and returns its value as the method would. */
    default @Nullable Object read(Read read) throws Throwable {
        return run(read::readUncached);
    }

    /** A call of the method without the cache. */
    @FunctionalInterface
    interface DirectCall {

        /** Returns what the method returns. */
        @Nullable Object call() throws Throwable;
    }

    /** A read by a method whose value arrives later. Inside a reactive transaction the method is called instead. */
    interface Read extends DirectCall {

        /**
         * Begins the read on the thread of the caller, or of the subscriber.
         *
         * @return null if the method has to run without the cache
         */
        @Nullable CompletableFuture<@Nullable Object> begin(Place place) throws Throwable;

        /** Runs the method without the cache, and waits for its value. */
        @Nullable Object readUncached(Place place) throws Throwable;

        /** Begins the read, or starts the method without the cache on a thread of its own. */
        default CompletableFuture<@Nullable Object> start(Place place, Futures futures) {
            try {
                CompletableFuture<@Nullable Object> begun = begin(place);
                return begun != null ? begun : futures.start(() -> readUncached(place));
            } catch (Throwable failure) {
                return CompletableFuture.failedFuture(failure);
            }
        }
    }

    /** Work that calls the method. */
    @FunctionalInterface
    interface Work {

        @Nullable Object run(Place place) throws Throwable;
    }

    /** Waits for the result of the method. */
    @FunctionalInterface
    interface Awaiter {

        /** The result is the value. */
        Awaiter NONE = result -> result;

        @Nullable Object await(@Nullable Object result) throws Throwable;
    }

    /**
     * Where the method runs.
     *
     * @param load waits for the result of a method that reads. An interrupt ends the wait
     * @param update waits for the result of a method that changes data: its entries must not be invalidated earlier
     * @param stage returns the result of the method as a stage, without waiting
     * @param isElsewhere whether on another thread than that of the caller
     * @param isInTransaction whether in a reactive transaction that began before the call
     */
    record Place(Awaiter load, Awaiter update, Stages stage, boolean isElsewhere, boolean isInTransaction) {}

    /** Makes stages of the results of a method. */
    @FunctionalInterface
    interface Stages {

        @Nullable CompletionStage<Object> of(@Nullable Object result);
    }
}
