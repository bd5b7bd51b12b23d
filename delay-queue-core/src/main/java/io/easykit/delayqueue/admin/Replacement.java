package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.support.Bytes;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of replacing a dead letter, with the old message for an audit.
 *
 * @param outcome   whether it was replaced and sent back
 * @param oldSha256 SHA-256 of the old body in hexadecimal digits, or null if it could not be read
 * @param oldSize   bytes of the old body; 0 if it could not be read
 * @param oldBody   the old body, or null if it is larger than {@link #MOST_BYTES} or could not be read
 * @param oldHeaders the old headers; empty if they could not be read, or are larger than {@link #MOST_BYTES}
 */
public record Replacement(
        Outcome outcome,
        @Nullable String oldSha256,
        int oldSize,
        @Nullable Bytes oldBody,
        Map<String, String> oldHeaders) {

    /** Largest old message, headers included, that is returned. */
    public static final int MOST_BYTES = 1 << 14;

    public Replacement {
        oldHeaders = Map.copyOf(oldHeaders);
    }

    /** Without headers: they do not belong in logs. */
    @Override
    public String toString() {
        return "Replacement[outcome=" + outcome + ", oldSha256=" + oldSha256 + ", oldSize=" + oldSize + "]";
    }

    /** Whether a dead letter was replaced. */
    public enum Outcome {
        /** It waits with the new body, due at once. */
        REPLACED,
        /** It is not dead, or has died again since. Nothing was changed. */
        NOT_DEAD,
        /** Its body is another one than the one that is meant. Nothing was changed. */
        OTHER_INCARNATION
    }
}
