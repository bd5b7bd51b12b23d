package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls a handler once for each message, inside the interceptors. The store of the endpoint begins a transaction, records the
 * message, calls the handler and commits. Only then is the message acknowledged:
 *
 * <ul>
 *   <li>A crash, or a lost lease, before the commit: neither effect nor record remains, and the message is delivered again.
 *   <li>The same after the commit: the next delivery finds the record, and is acknowledged without a call.
 *   <li>A second delivery while the first one runs, because that one has lost its lease: the record of the first one keeps it
 *       waiting until the transaction ends, or makes its run fail.
 * </ul>
 *
 * <p>A handler may settle its message by the {@link Acknowledgment} before it returns. That is carried out after the transaction:
 * otherwise a crash in between would lose an acknowledged message whose effect was not committed, and a failed message would be
 * recorded as handled.
 *
 * <p>A failure of the store is not one of the message. It is released before the exception passes the interceptors, so none of them
 * can make it a failed or an acknowledged one. The delay doubles with each release. After the handler has run, this holds for
 * {@link #MOST_RELEASES} releases only: a handler that breaks the connection in each run has to become a dead letter.
 */
final class OnceHandler implements MessageHandler.Batch<Object> {

    private static final Logger log = LoggerFactory.getLogger(OnceHandler.class);

    static final int MOST_RELEASES = 10;

    private static final Duration FIRST_DELAY = Duration.ofSeconds(1);
    private static final Duration LONGEST_DELAY = Duration.ofMinutes(1);

    private final ListenerEndpoint endpoint;
    private final IdempotencyStore store;
    private final MessageHandler.Batch<Object> handler;
    private final Events events;
    private final RepeatedLines lines;

    private OnceHandler(
            ListenerEndpoint endpoint,
            IdempotencyStore store,
            MessageHandler.Batch<Object> handler,
            Events events,
            RepeatedLines lines) {
        this.endpoint = endpoint;
        this.store = store;
        this.handler = handler;
        this.events = events;
        this.lines = lines;
    }

    /** Returns the handler itself if the endpoint has no store. */
    static MessageHandler.Batch<Object> of(
            ListenerEndpoint endpoint, MessageHandler.Batch<Object> handler, Events events, RepeatedLines lines) {
        IdempotencyStore store = endpoint.idempotencyStore();
        return store == null ? handler : new OnceHandler(endpoint, store, handler, events, lines);
    }

    @Override
    public void handle(List<DelayMessage<Object>> messages) throws Exception {
        DelayMessage<Object> message = messages.get(0);
        Settlement settlement = new Settlement(message.acknowledgment());
        Call call = new Call();
        boolean hasRun;
        try {
            hasRun = store.runOnce(message.topic(), message.uniqueId(), () -> {
                call.progress = Progress.BEGUN;
                handler.handle(List.of(with(settlement, message)));
                call.progress = Progress.RETURNED;
                settlement.requireSuccess();
            });
        } catch (Throwable e) {
            if (settlement.settleFailure()) {
                return;
            }
            if (isOfTheStore(e, call.progress, message)) {
                release(message, e);
            }
            throw e;
        }
        if (!hasRun) {
            skipped(message);
        }
    }

    private static boolean isOfTheStore(Throwable failure, Progress handler, DelayMessage<Object> message) {
        return switch (handler) {
            case NOT_CALLED -> failure instanceof Exception;
            case BEGUN -> false;
            case RETURNED ->
                failure instanceof IdempotencyStore.UnavailableException && message.releases() < MOST_RELEASES;
        };
    }

    private void release(DelayMessage<Object> message, Throwable failure) {
        Duration doubled = FIRST_DELAY.multipliedBy(1L << Math.min(message.releases(), 10));
        Duration delay = doubled.compareTo(LONGEST_DELAY) < 0 ? doubled : LONGEST_DELAY;
        if (message.acknowledgment() instanceof InFlightMessage inFlight) {
            inFlight.release(delay);
        }
        lines.warn(
                log,
                endpoint.topic(),
                "The records of handled messages cannot be read or written, so messages of listener '{}', such as {}, are"
                        + " released and come again after {} or later. This costs no attempt. Check the database: {}",
                LogText.of(endpoint.id()),
                LogText.of(message.id()),
                delay,
                LogText.of(ErrorText.firstLine(ErrorText.of(failure))));
    }

    /** How far the call of the handler has come. */
    private enum Progress {
        NOT_CALLED,
        BEGUN,
        RETURNED
    }

    private static final class Call {
        private Progress progress = Progress.NOT_CALLED;
    }

    private static DelayMessage<Object> with(Acknowledgment settlement, DelayMessage<Object> message) {
        return new DelayMessage<>(
                message.topic(),
                message.id(),
                message.payload(),
                message.headers(),
                message.due(),
                message.uniqueId(),
                message.failures(),
                message.leaseExpirations(),
                message.releases(),
                settlement);
    }

    private void skipped(DelayMessage<Object> message) {
        log.debug(
                "Message {} of topic {} was handled before, and is acknowledged without a call of listener '{}'",
                LogText.of(message.id()),
                message.topic(),
                endpoint.id());
        events.emit(new DelayQueueEvent.Repeated(message.topic(), endpoint.id(), message.id(), message.attempt()));
    }

    /** Keeps the first call of the handler until the transaction has ended. */
    private static final class Settlement implements Acknowledgment {

        private final Acknowledgment message;
        private boolean settled;
        private @Nullable Consumer<Acknowledgment> failure;

        Settlement(Acknowledgment message) {
            this.message = message;
        }

        @Override
        public synchronized void acknowledge() {
            settled = true;
        }

        @Override
        public void fail(Throwable error) {
            settle(real -> real.fail(error));
        }

        @Override
        public void fail(Throwable error, Duration retryAfter) {
            settle(real -> real.fail(error, retryAfter));
        }

        @Override
        public void reject(Throwable error) {
            settle(real -> real.reject(error));
        }

        @Override
        public boolean isLost() {
            return message.isLost();
        }

        private synchronized void settle(Consumer<Acknowledgment> failed) {
            if (!settled) {
                settled = true;
                failure = failed;
            }
        }

        /** The end of the handler decides if it has not: calls of other threads come too late from now on. */
        synchronized void requireSuccess() {
            settled = true;
            if (failure != null) {
                throw new FailedBySettlement();
            }
        }

        /** Carries out a failure after the rollback; false if the handler has settled nothing. */
        boolean settleFailure() {
            Consumer<Acknowledgment> decided;
            synchronized (this) {
                settled = true;
                decided = failure;
            }
            if (decided == null) {
                return false;
            }
            decided.accept(message);
            return true;
        }
    }

    /** Makes the store undo the record. It has no stack trace, because it goes no further than to this class. */
    private static final class FailedBySettlement extends RuntimeException {

        private static final long serialVersionUID = 1L;

        FailedBySettlement() {
            super("The handler has settled its message as failed", null, false, false);
        }
    }
}
