package io.easykit.console;

import org.jspecify.annotations.Nullable;

/** A request that is not served: the reason, and the remedy. */
public final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String action;
    private final @Nullable String kind;

    public Refusal(int status, String reason, String action) {
        this(status, reason, action, null);
    }

    /** @param kind word for the page, such as {@code redis}, or null */
    public Refusal(int status, String reason, String action, @Nullable String kind) {
        super(reason);
        this.status = status;
        this.action = action;
        this.kind = kind;
    }

    /** HTTP status. */
    public int status() {
        return status;
    }

    /** The remedy. */
    public String action() {
        return action;
    }

    @Nullable String kind() {
        return kind;
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
