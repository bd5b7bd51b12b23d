package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.support.NameRules;
import java.time.Instant;

/** One death of one message: a later death of the same id is another. */
public record DeadLetterRef(String id, Instant diedAt) {

    static final Instant LATEST = Instant.ofEpochMilli(1L << 53);

    public DeadLetterRef {
        NameRules.requireId(NameRules.requireWellFormed(id));
        require(
                diedAt != null && !diedAt.isBefore(Instant.EPOCH) && !diedAt.isAfter(LATEST),
                "No message died at " + diedAt + ": give the time of death that the dead letter shows");
    }

    private static void require(boolean holds, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException(complaint + ".");
        }
    }
}
