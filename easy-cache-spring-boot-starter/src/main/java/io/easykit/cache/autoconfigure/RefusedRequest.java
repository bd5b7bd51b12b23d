package io.easykit.cache.autoconfigure;

import io.easykit.boot.HttpProblem;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.UnknownClusterException;
import io.easykit.cache.admin.CacheDisabledException;
import io.easykit.cache.admin.UnknownCacheException;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/** A request of the endpoint that is not served. Its message has the problem and the remedy, for JMX. */
final class RefusedRequest extends InvalidEndpointRequestException {

    private static final long serialVersionUID = 1L;

    private final transient HttpProblem problem;

    /** @param status of HTTP */
    RefusedRequest(int status, String detail, String action) {
        super(detail + " " + action, detail + " " + action);
        this.problem = new HttpProblem(status, detail, action);
    }

    static RefusedRequest of(EasyCacheException failure) {
        String detail = String.valueOf(failure.getMessage());
        if (failure instanceof UnknownClusterException || failure instanceof UnknownCacheException) {
            return new RefusedRequest(
                    404, detail, "The path caches lists the caches of this node with their clusters.");
        }
        return failure instanceof CacheDisabledException
                ? new RefusedRequest(409, detail, "Use the endpoint of another node.")
                : new RefusedRequest(400, detail, "Correct the request.");
    }

    HttpProblem problem() {
        return problem;
    }
}
