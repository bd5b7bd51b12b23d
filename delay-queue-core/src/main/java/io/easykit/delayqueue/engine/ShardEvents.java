package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.LostLease;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.DurationText;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports to the log and to the listeners what becomes of the messages of a shard. Except for {@link #settled}, it is called
 * by the shard's loop, which must not wait for listeners.
 */
final class ShardEvents {

    private static final Logger log = LoggerFactory.getLogger(ShardEvents.class);

    private final ShardKey shard;
    private final ListenerEndpoint endpoint;
    private final Events events;
    private final EventQueue later;
    private final RepeatedLines lines;

    /**
     * For one consumer.
     *
     * @param events delivers on the thread that settles
     * @param later  delivers on another thread
     */
    ShardEvents(ShardKey shard, ListenerEndpoint endpoint, Events events, EventQueue later, RepeatedLines lines) {
        this.shard = shard;
        this.endpoint = endpoint;
        this.events = events;
        this.later = later;
        this.lines = lines;
    }

    /** A message is settled on this node, and the store has not confirmed it yet. If its lease was lost, another run may count. */
    void settled(InFlightMessage message) {
        if (!message.wasLost()) {
            report(message, events::emit);
        }
    }

    /** The store has applied the result of a message. */
    void applied(InFlightMessage message) {
        if (message.wasLost()) {
            report(message, later::emit);
        }
    }

    private void report(InFlightMessage message, Consumer<DelayQueueEvent> to) {
        InFlightMessage.Result result = message.result();
        if (result.verdict().isForOthers()) {
            return;
        }
        Failure failure = result.failure();
        Throwable error = result.error();
        if (failure == null && error != null) {
            discarded(message, error, to);
        } else if (failure == null || error == null) {
            to.accept(new DelayQueueEvent.Completed(
                    shard.topic(), endpoint.id(), message.id(), message.attempt(), message.runtime()));
        } else {
            logFailure(message, error);
            logRetry(message, error, failure.retryAfter());
            to.accept(new DelayQueueEvent.Failed(
                    shard.topic(),
                    endpoint.id(),
                    message.id(),
                    message.attempt(),
                    error,
                    failure.retryAfter(),
                    message.runtime()));
        }
    }

    /** The event of a settled message cannot be made, such as for lack of memory. */
    void lost(InFlightMessage message, Throwable error) {
        try {
            warn(
                    "No event for the result of message {} of {}: {}",
                    LogText.of(message.id()),
                    shard,
                    ErrorText.lineOf(error));
        } catch (Throwable e) {
            // The caller settles other messages.
        }
    }

    private void discarded(InFlightMessage message, Throwable error, Consumer<DelayQueueEvent> to) {
        logFailure(message, error);
        warn(
                "Message {} of {} is discarded by its error handler: {}",
                LogText.of(message.id()),
                shard,
                ErrorText.lineOf(error));
        to.accept(new DelayQueueEvent.Discarded(
                shard.topic(), endpoint.id(), message.id(), message.attempt(), error, message.runtime()));
    }

    private void logFailure(InFlightMessage message, Throwable error) {
        if (log.isDebugEnabled()) {
            log.debug(
                    "Run {} of message {} of {} failed",
                    message.attempt(),
                    LogText.of(message.id()),
                    shard,
                    ErrorText.printable(error));
        }
    }

    private void logRetry(InFlightMessage message, Throwable error, @Nullable Duration retryAfter) {
        if (retryAfter != null) {
            lines.info(
                    log,
                    shard.topic(),
                    "Run {} of message {} of {} failed, and is repeated in {}: {}",
                    message.attempt(),
                    LogText.of(message.id()),
                    shard,
                    DurationText.of(retryAfter),
                    ErrorText.lineOf(error));
        }
    }

    void settledLate(InFlightMessage message) {
        if (!message.result().verdict().isForOthers()) {
            warn("The result of message {} of {} came too late and changed nothing", LogText.of(message.id()), shard);
            later.emit(new DelayQueueEvent.SettledLate(shard.topic(), endpoint.id(), message.id()));
        }
    }

    void died(String id, String reason) {
        warn("Message {} of {} is dead: {}", LogText.of(id), shard, LogText.of(reason));
        later.emit(new DelayQueueEvent.Died(shard.topic(), id, reason));
    }

    /** A handler works for nothing. */
    void leaseLost(InFlightMessage message) {
        warn("Message {} of {} has lost its lease, and its handler is interrupted", LogText.of(message.id()), shard);
        later.emit(new DelayQueueEvent.LeaseLost(shard.topic(), endpoint.id(), message.id()));
    }

    /** A lease has expired, and the message was taken back. */
    void leaseExpired(LostLease lost) {
        String id = lost.lease().id();
        lines.info(
                log,
                shard.topic(),
                "The lease of {} on message {} of {} has ended",
                LogText.of(lost.owner()),
                LogText.of(id),
                shard);
        later.emit(new DelayQueueEvent.LeaseExpired(shard.topic(), id, lost.owner(), lost.leaseExpirations()));
        if (lost.dead()) {
            died(id, ErrorNote.LEASE_LOST);
        }
    }

    private void warn(String format, Object... arguments) {
        lines.warn(log, shard.topic(), format, arguments);
    }
}
