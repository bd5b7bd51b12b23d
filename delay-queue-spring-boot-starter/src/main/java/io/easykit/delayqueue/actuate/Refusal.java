package io.easykit.delayqueue.actuate;

/** A request that is answered with an error, and with what to do about it. */
final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String action;

    /** @param status of HTTP */
    Refusal(int status, String error, String action) {
        super(error, null, false, false);
        this.status = status;
        this.action = action;
    }

    int status() {
        return status;
    }

    String action() {
        return action;
    }
}
