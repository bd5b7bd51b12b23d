package io.easykit.delayqueue.actuate;

import io.easykit.boot.HttpProblem;

/** A request that is answered with an error, and with what to do about it. */
final class EndpointRefusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient HttpProblem problem;

    /** @param status of HTTP */
    EndpointRefusal(int status, String detail, String action) {
        super(detail, null, false, false);
        this.problem = new HttpProblem(status, detail, action);
    }

    HttpProblem problem() {
        return problem;
    }
}
