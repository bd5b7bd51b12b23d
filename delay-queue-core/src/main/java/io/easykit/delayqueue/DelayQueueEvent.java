package io.easykit.delayqueue;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened on this node, for meters, logs, and application events. Further kinds of events may be added in a minor
 * version.
 */
public interface DelayQueueEvent {

    String topic();

    /** A message was sent, and the store has answered. */
    record Sent(String topic, String id, SendOutcome outcome) implements DelayQueueEvent {}

    /**
     * A handler is about to run.
     *
     * @param listener id of the endpoint
     * @param attempt  which run, from 1
     * @param lateness since the message was due
     */
    record Delivered(String topic, String listener, String id, int attempt, Duration lateness)
            implements DelayQueueEvent {}

    /**
     * A message is done. The acknowledgement may not have reached the store yet. If its lease was lost before, the store has applied
     * it and said so: else there is no such event.
     *
     * @param runtime time since the handler began
     */
    record Completed(String topic, String listener, String id, int attempt, Duration runtime)
            implements DelayQueueEvent {}

    /**
     * A message was handled in an earlier delivery, as the {@link IdempotencyStore} of the listener shows. It is completed
     * without a call of the handler.
     *
     * @param attempt which run, from 1
     */
    record Repeated(String topic, String listener, String id, int attempt) implements DelayQueueEvent {}

    /**
     * A run has failed. If its lease was lost before, the store has applied the failure.
     *
     * @param retryAfter the wait until the next one, or null: the message dies
     * @param runtime    since the handler began
     */
    record Failed(
            String topic,
            String listener,
            String id,
            int attempt,
            Throwable error,
            @Nullable Duration retryAfter,
            Duration runtime)
            implements DelayQueueEvent {}

    /**
     * A run has failed, and its error handler has discarded the message. The acknowledgement may not have reached the store yet. If
     * its lease was lost before, the store has applied it.
     *
     * @param runtime since the handler began
     */
    record Discarded(String topic, String listener, String id, int attempt, Throwable error, Duration runtime)
            implements DelayQueueEvent {}

    /**
     * A message is dead.
     *
     * @param reason the last error in a line, or one of the reasons of {@link MessageInfo.ErrorNote}
     */
    record Died(String topic, String id, String reason) implements DelayQueueEvent {}

    /** This node has lost the lease of a message while its handler ran. The handler was interrupted. */
    record LeaseLost(String topic, String listener, String id) implements DelayQueueEvent {}

    /** The result of a handler came too late: another node had the message by then, or it had ended. The result changed nothing. */
    record SettledLate(String topic, String listener, String id) implements DelayQueueEvent {}

    /**
     * The lease of a message has expired, and this node has reaped it.
     *
     * @param owner consumer that held the lease
     * @param leaseExpirations expired leases of the message so far
     */
    record LeaseExpired(String topic, String id, String owner, int leaseExpirations) implements DelayQueueEvent {}

    /**
     * A limit is exceeded, such as one of {@link AlertLimits}. One node of the fleet publishes it.
     *
     * @param value the count, the age in milliseconds, or the share in percent, rounded up
     * @param limit the limit in the same unit; a share is rounded down
     */
    record AlertRaised(String topic, AlertLimits.Kind kind, long value, long limit) implements DelayQueueEvent {}

    /** A limit is no longer exceeded. One node of the fleet publishes it. */
    record AlertResolved(String topic, AlertLimits.Kind kind) implements DelayQueueEvent {}
}
