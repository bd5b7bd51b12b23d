package io.easykit.delayqueue;

import java.time.Duration;

/**
 * Settles one message. The first call settles it, later ones change nothing. Without a call, the container settles it when
 * the handler ends; in manual mode it stays with the listener, and keeps its place, until a call comes. The calls return at
 * once, on any thread; the store is told by the container.
 */
public interface Acknowledgment {

    /** The message is done. */
    void acknowledge();

    /** The run has failed: another one follows after the wait of the retry policy, or the message dies. */
    void fail(Throwable error);

    /** As {@link #fail(Throwable)}, with a wait of its own; the policy's limit of attempts holds all the same. */
    void fail(Throwable error, Duration retryAfter);

    /** The message can never be handled: it is dead now. */
    void reject(Throwable error);

    /**
     * Whether the message no longer belongs to this listener: its lease has been lost, or it was handed back by a stop. It
     * may be running elsewhere; whatever settles it here changes nothing.
     */
    boolean isLost();
}
