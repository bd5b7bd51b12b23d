package io.easykit.console;

import io.easykit.boot.OperatorAudit.Outcome;
import org.jspecify.annotations.Nullable;

/** A request that is not served: the reason, and the remedy. */
public final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String action;
    private final @Nullable String kind;
    private final boolean unknown;

    public Refusal(int status, String reason, String action) {
        this(status, reason, action, null);
    }

    /** @param kind word for the page, such as {@code redis}, or null */
    public Refusal(int status, String reason, String action, @Nullable String kind) {
        this(status, reason, action, kind, false);
    }

    private Refusal(int status, String reason, String action, @Nullable String kind, boolean unknown) {
        super(reason);
        this.status = status;
        this.action = action;
        this.kind = kind;
        this.unknown = unknown;
    }

    /** A change that may have been made, in part or whole. */
    public static Refusal ofUnknownOutcome(String reason, String action, String kind) {
        return new Refusal(
                503,
                reason + " The change may have been made, in part or whole.",
                action + " Load the list again before you repeat the change.",
                kind,
                true);
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

    /** Its outcome for the audit. */
    Outcome outcome() {
        if (unknown) {
            return Outcome.UNKNOWN;
        }
        return status < 500 ? Outcome.REFUSED : Outcome.FAILED;
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
