package io.easykit.cache.style;

import io.easykit.cache.async.Futures;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** How a method returns its result: at once, by a future, or by a publisher. */
public interface CallStyle {

    /** The method returns when its work is done. */
    CallStyle BLOCKING = work -> work.run(new Place(Awaiter.NONE, Awaiter.NONE, false, false));

    /** The style of a method. */
    static CallStyle of(ReturnedValue returned, Futures futures) {
        if (returned.isFuture()) {
            return future(futures);
        }
        return returned.publisher() == null ? BLOCKING : new ReactiveStyle(returned.publisher(), futures);
    }

    @SuppressWarnings({"FutureReturnValueIgnored", "unchecked"}) // the caller of the method gets it; the declared type
    private static CallStyle future(Futures futures) {
        Awaiter load = result -> Futures.await((CompletionStage<Object>) result);
        Awaiter update = result -> Futures.awaitUninterruptibly((CompletionStage<Object>) result);
        return work -> futures.start(() -> work.run(new Place(load, update, true, false)));
    }

    /** Runs work that may wait, and returns its value as the method would. */
    @Nullable Object run(Work work) throws Throwable;

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
     * @param isElsewhere whether on another thread than that of the caller
     * @param isInTransaction whether in a reactive transaction that began before the call
     */
    record Place(Awaiter load, Awaiter update, boolean isElsewhere, boolean isInTransaction) {}
}
