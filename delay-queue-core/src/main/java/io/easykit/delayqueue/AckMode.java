package io.easykit.delayqueue;

/** Who settles the messages of a listener. */
public enum AckMode {
    /** The container: acknowledges when the handler returns, and fails when it throws. */
    AUTO,
    /** The handler, by the {@link Acknowledgment}. If it throws, the messages that are not settled yet fail. */
    MANUAL
}
