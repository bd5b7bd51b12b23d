package io.easykit.cache.actuate;

import io.easykit.boot.HttpProblem;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/** A request of the endpoint that is not served. Its message has the problem and the remedy, for JMX. */
final class RefusedRequest extends InvalidEndpointRequestException {

    private static final long serialVersionUID = 1L;

    private final transient HttpProblem problem;

    /** @param status of HTTP */
    RefusedRequest(int status, String detail, String action) {
        this(new HttpProblem(status, detail, action));
    }

    RefusedRequest(HttpProblem problem) {
        super(problem.detail() + " " + problem.action(), problem.detail() + " " + problem.action());
        this.problem = problem;
    }

    HttpProblem problem() {
        return problem;
    }
}
