package io.easykit.cache.springcache;

import org.jspecify.annotations.Nullable;

/** How a method returns its result: at once, by a future, or by a publisher. */
interface CallStyle {

    /** The method returns when its work is done. */
    CallStyle BLOCKING = work -> work.run(new Place(result -> result, false, false));

    /** The method returns a future. */
    @SuppressWarnings("FutureReturnValueIgnored") // the caller of the method gets it
    static CallStyle future(Futures futures) {
        return work -> futures.start(() -> work.run(new Place(Futures::await, true, false)));
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

        @Nullable Object await(@Nullable Object result) throws Throwable;
    }

    /**
     * Where the method runs.
     *
     * @param isElsewhere whether on another thread than that of the caller
     * @param isInTransaction whether in a reactive transaction that began before the call
     */
    record Place(Awaiter awaiter, boolean isElsewhere, boolean isInTransaction) {}
}
