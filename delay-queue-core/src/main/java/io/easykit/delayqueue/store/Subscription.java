package io.easykit.delayqueue.store;

import java.time.Duration;

/** A subscription to wakeups. It ends with {@code close}, which may be repeated. */
public interface Subscription extends AutoCloseable {

    /** Returned by {@link #sinceProof} if there is no proof. */
    Duration UNPROVEN = Duration.ofDays(365);

    @Override
    void close();

    /**
     * Returns the time since the store last proved that wakeups arrive: each one that was sent before then has been received. By
     * default there is no proof.
     */
    default Duration sinceProof() {
        return UNPROVEN;
    }
}
