package io.easykit.delayqueue;

import java.time.Duration;

/**
 * Settles one message. The first call decides; later calls change nothing. Without a call, the container settles the message
 * when the handler ends. In manual mode the message keeps its permit until a call. The calls return at once, on any thread;
 * the container sends the result to the store.
 */
public interface Acknowledgment {

    /** The message is done. */
    void acknowledge();

    /**
     * The run has failed: another one follows after the wait of the retry policy, or the message dies. If the listener has an
     * {@link ErrorHandler}, that one decides, on the calling thread.
     */
    void fail(Throwable error);

    /** As {@link #fail(Throwable)}, with a wait of its own; the policy's limit of attempts holds all the same. */
    void fail(Throwable error, Duration retryAfter);

    /** The message can never be handled: it is dead now. */
    void reject(Throwable error);

    /**
     * Returns whether this listener has lost the message: its lease expired, or a stop handed it back. The message may be
     * running elsewhere. Settling it here changes nothing, unless only this node took the lease for expired.
     */
    boolean isLost();
}
