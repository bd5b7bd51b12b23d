package io.easykit.cache.actuate;

import io.easykit.boot.HttpProblem;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.UnknownClusterException;
import io.easykit.cache.admin.CacheDisabledException;
import io.easykit.cache.admin.UnknownCacheException;

/** Exceptions of the cache as replies, for the endpoint and the console. */
public final class CacheProblem {

    private CacheProblem() {}

    /** The reply to a request that has thrown an exception. */
    public static HttpProblem of(EasyCacheException failure) {
        String detail = String.valueOf(failure.getMessage());
        if (failure instanceof UnknownCacheException unknown && unknown.isAmbiguous()) {
            return new HttpProblem(400, detail, "Give 'cluster'.");
        }
        if (failure instanceof UnknownClusterException || failure instanceof UnknownCacheException) {
            return new HttpProblem(404, detail, "The list of caches names those of this node, with their clusters.");
        }
        return failure instanceof CacheDisabledException
                ? new HttpProblem(409, detail, "Ask another node.")
                : new HttpProblem(400, detail, "Correct the request.");
    }
}
