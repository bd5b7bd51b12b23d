package io.easykit.cache.engine;

import io.easykit.cache.store.Fetched;

/**
 * Decides what the owner of a load does next, after each reply of the store. {@link CacheDispatcher} describes why. It only
 * decides: one reader waits on its thread between the steps ({@link CacheDispatcher}), another one holds no thread
 * ({@link AsyncMiss}).
 */
final class DispatchTurn {

    /** How many loads of other nodes a reader waits for before it loads for itself. */
    private static final int FOREIGN_LOADS = 2;

    private boolean removedValue;
    private boolean waitedForUpdate;
    private int foreignLoads;

    /** A step of the turn. */
    enum Step {
        /** Fetch from the store. */
        FETCH,
        /** Load under the lease of the reply. */
        LOAD,
        /** Return the value of the reply. */
        SERVE,
        /** Wait for the load of another node. */
        AWAIT_LOAD,
        /** Wait for an update. */
        AWAIT_UPDATE,
        /** Load without a lease. */
        LOAD_UNSTORED,
        /** The same beside the load of another node. A pausable reader does not load. */
        LOAD_BESIDE
    }

    /** The step after a reply. */
    Step after(Fetched fetched) {
        if (fetched instanceof Fetched.NeedQuery) {
            return Step.LOAD;
        } else if (fetched instanceof Fetched.Served) {
            return Step.SERVE;
        } else if (fetched instanceof Fetched.NeedWait) {
            return foreignLoads++ < FOREIGN_LOADS ? Step.AWAIT_LOAD : Step.LOAD_BESIDE;
        }
        Step step = waitedForUpdate ? Step.LOAD_UNSTORED : Step.AWAIT_UPDATE;
        waitedForUpdate = true;
        return step;
    }

    /**
     * The step after another one that had no result: the value was unreadable, and is removed, or the wait was in vain.
     *
     * @param remainingWait how much of the reader's waiting time is left
     */
    Step afterNone(Step step, long remainingWait) {
        if (step == Step.SERVE) {
            Step next = removedValue ? Step.LOAD_UNSTORED : Step.FETCH;
            removedValue = true;
            return next;
        }
        return step == Step.AWAIT_LOAD && remainingWait <= 0 ? Step.LOAD_BESIDE : Step.FETCH;
    }
}
