package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;

/**
 * What loads of keys have failed, and which keys wait for their next attempt.
 *
 * @param loads of caches whose readers may have an expired value
 * @param refreshes of values that were still valid
 */
record LoadFailures(FailedLoads loads, FailingRefreshes refreshes) {

    /** A load of the key has returned a value. */
    void succeeded(CacheKey<?> key) {
        loads.succeeded(key);
        refreshes.succeeded(key);
    }

    /** Whether a key may be refreshed now. */
    boolean mayRefresh(CacheKey<?> key) {
        return refreshes.mayTry(key) && !loads.isPaused(key);
    }

    /** The refresh of a key has failed, which had an older value. */
    void refreshFailed(CacheKey<?> key, Throwable failure) {
        if (!(failure instanceof LoadPausedException)) {
            refreshes.failed(key, failure);
        }
    }
}
