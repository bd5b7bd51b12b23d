package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of the handler, with one message or a batch: decodes on the worker's thread, calls the handler, and settles the
 * messages that the handler left open. It keeps its permit until the handler has returned and all its messages are settled.
 */
final class MessageExecution implements Runnable, HandlerCall, PrefetchedRuns.Run {

    /** What all runs of a container share. */
    record HandlerContext(
            ListenerEndpoint endpoint,
            MessageHandler.Batch<Object> handler,
            PayloadCodec codec,
            Events events,
            LongSupplier nanos,
            NewerFrames newer,
            ErrorActions errors,
            RunningExecutions running) {}

    private static final Logger log = LoggerFactory.getLogger(MessageExecution.class);

    /** Time until a message whose body could not be read is tried again. */
    private static final Duration AFTER_FAILED_READ = Duration.ofSeconds(1);

    private enum State {
        NEW,
        RUNNING,
        ENDED
    }

    private final HandlerContext context;
    private final List<InFlightMessage> messages;
    private final Function<InFlightMessage, Duration> lateness;
    private final LongConsumer onPermitFree;

    // Guarded by this.
    private State state = State.NEW;
    private @Nullable Thread thread;
    private boolean permitFree;
    private long startedAt;
    private boolean hasRun;

    /**
     * A run that has not begun.
     *
     * @param lateness    of a message now
     * @param onPermitFree called once, on any thread, with the nanoseconds since the run began, or -1 if it never did
     */
    MessageExecution(
            HandlerContext context,
            List<InFlightMessage> messages,
            Function<InFlightMessage, Duration> lateness,
            LongConsumer onPermitFree) {
        this.context = context;
        this.messages = messages;
        this.lateness = lateness;
        this.onPermitFree = onPermitFree;
        messages.forEach(message -> message.attachTo(this));
    }

    @Override
    public void run() {
        try {
            // If the lease has ended, the node stood still since the claim. The handler must not begin what runs
            // elsewhere.
            if (!leaseHasEnded()) {
                context.running().within(this::handleAndSettle);
            }
        } finally {
            cancelIfNotStarted();
        }
    }

    private void handleAndSettle() {
        if (!begin()) {
            return;
        }
        Throwable thrown = handle();
        // The error handler is part of the run: a stop interrupts it, and waits for it.
        List<@Nullable ErrorAction> actions = thrown == null ? List.of() : decide(thrown);
        end();
        try {
            settleAll(thrown, actions);
        } finally {
            // At the end, so that the permit is free when the consumer gets the last message back.
            onAllSettled();
        }
    }

    private @Nullable Throwable handle() {
        try {
            // Inside, because an error for lack of memory fails the run like any other.
            List<InFlightMessage> called = new ArrayList<>(messages.size());
            List<DelayMessage<Object>> decoded = new ArrayList<>(messages.size());
            for (InFlightMessage message : messages) {
                decode(message, called, decoded);
            }
            if (!called.isEmpty()) {
                call(called, decoded);
            }
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    /** Empty after an error, such as for lack of memory: then the retry policy decides. */
    private List<@Nullable ErrorAction> decide(Throwable thrown) {
        try {
            return messages.stream().map(message -> message.decide(thrown)).toList();
        } catch (Throwable e) {
            return List.of();
        }
    }

    @Override
    public void cancelIfNotStarted() {
        synchronized (this) {
            if (state != State.NEW) {
                return;
            }
            state = State.ENDED;
        }
        for (InFlightMessage message : messages) {
            message.release();
        }
        onAllSettled();
    }

    /** A message has been settled or lost. When none is open any more, the place is free once the handler returns. */
    @Override
    public void onAllSettled() {
        synchronized (this) {
            if (permitFree || state != State.ENDED || !areAllSettled()) {
                return;
            }
            permitFree = true;
        }
        onPermitFree.accept(hasRun ? context.nanos().getAsLong() - startedAt : -1);
    }

    /** Interrupts the handler if all messages that it has not settled are lost. */
    @Override
    public synchronized void interruptIfLost() {
        if (thread != null && areAllSettled() && messages.stream().anyMatch(InFlightMessage::isLost)) {
            thread.interrupt();
        }
    }

    @Override
    public synchronized boolean hasStarted() {
        return state != State.NEW;
    }

    @Override
    public synchronized boolean hasEnded() {
        return state == State.ENDED;
    }

    private synchronized boolean begin() {
        if (state != State.NEW) {
            return false;
        }
        startedAt = context.nanos().getAsLong();
        context.running().begin(this, startedAt);
        // Set only now, because after an error above the messages are handed back.
        state = State.RUNNING;
        hasRun = true;
        thread = Thread.currentThread();
        return true;
    }

    private synchronized void end() {
        state = State.ENDED;
        context.running().end(this);
        thread = null;
        // An interrupt was meant for the handler, not for the next one on this thread.
        Thread.interrupted();
    }

    private boolean leaseHasEnded() {
        long now = context.nanos().getAsLong();
        return messages.stream().anyMatch(message -> message.leaseLeft(now) <= 0);
    }

    private boolean areAllSettled() {
        // No stream: it needs memory, and the permit would stay taken.
        for (InFlightMessage message : messages) {
            if (!message.isSettled() && !message.isLost()) {
                return false;
            }
        }
        return true;
    }

    private void call(List<InFlightMessage> called, List<DelayMessage<Object>> decoded) throws Exception {
        for (InFlightMessage message : called) {
            context.events()
                    .emit(new DelayQueueEvent.Delivered(
                            context.endpoint().topic(),
                            context.endpoint().id(),
                            message.id(),
                            message.attempt(),
                            lateness.apply(message)));
        }
        context.handler().handle(decoded);
    }

    /** An error at one message must not keep the others in flight, whose leases would be renewed until the stop. */
    private void settleAll(@Nullable Throwable thrown, List<@Nullable ErrorAction> actions) {
        Throwable error = null;
        for (int i = 0; i < messages.size(); i++) {
            try {
                settle(messages.get(i), thrown, i < actions.size() ? actions.get(i) : ErrorAction.byDefault());
            } catch (Throwable e) {
                error = e;
            }
        }
        if (error != null) {
            // Costs a lease expiration, so that a message which always fails here does not run for ever.
            for (InFlightMessage message : messages) {
                message.giveUp();
            }
            log.warn(
                    "An error at the end of a run of listener '{}'. Messages without a result run again: {}",
                    LogText.of(context.endpoint().id()),
                    ErrorText.lineOf(error));
        }
    }

    private void settle(InFlightMessage message, @Nullable Throwable thrown, @Nullable ErrorAction action) {
        if (message.isSettled()) {
            return;
        }
        if (thrown == null && message.decision.isBroken()) {
            // Its failure was reported, and without effect.
            message.giveUp();
        } else if (thrown == null && context.endpoint().ackMode() == AckMode.AUTO) {
            message.acknowledge();
        } else if (thrown != null && message.isLost()) {
            // The handler was interrupted because of the loss: not a failure of its own.
            message.release();
        } else if (thrown != null && action != null) {
            message.fail(thrown, action);
        } else if (thrown != null && !message.decision.hasBegun()) {
            // The call that was deciding has failed meanwhile.
            message.giveUp();
        }
    }

    /** Adds the message to those that the handler gets; for one that cannot be read, the run has failed. */
    private void decode(InFlightMessage message, List<InFlightMessage> called, List<DelayMessage<Object>> decoded) {
        message.markStarted(context.nanos().getAsLong());
        if (message.delivery.frame().length() + message.delivery.unread() == 0) {
            message.rejectWithoutBody();
            return;
        }
        try {
            Optional<Bytes> frame = message.frame();
            if (frame.isEmpty()) {
                message.release();
                return;
            }
            decoded.add(decode(message, frame.get()));
            called.add(message);
        } catch (StoreUnavailableException | StoreRefusedException e) {
            message.release(AFTER_FAILED_READ);
        } catch (NewerFrameException e) {
            context.newer().release(message, e);
        } catch (UndecodableMessageException e) {
            message.fail(e);
        } catch (Throwable e) {
            boolean isOfTheNode = e instanceof VirtualMachineError && !(e instanceof StackOverflowError);
            message.fail(isOfTheNode ? e : undecodable(e));
        }
    }

    /** Keeps the type and the place of an exception. Its message may quote the payload. */
    private static UndecodableMessageException undecodable(Throwable failure) {
        UndecodableMessageException undecodable = new UndecodableMessageException(
                "The payload cannot be decoded: " + failure.getClass().getName(), null);
        undecodable.setStackTrace(failure.getStackTrace());
        return undecodable;
    }

    private Object payload(Envelope envelope) {
        ListenerEndpoint endpoint = context.endpoint();
        return endpoint.deadLettersOf() == null
                ? context.codec().decode(envelope.body(), endpoint.type())
                : DeadLetterNotice.decode(envelope, context.codec(), endpoint.type());
    }

    private DelayMessage<Object> decode(InFlightMessage message, Bytes frame) {
        Delivery delivery = message.delivery;
        Envelope envelope = Envelope.decode(frame);
        RetryPolicy own = envelope.retry();
        if (own != null) {
            message.retry(own);
        }
        DelayMessage<Object> decoded = new DelayMessage<>(
                context.endpoint().topic(),
                delivery.id(),
                payload(envelope),
                envelope.headers(),
                delivery.due(),
                delivery.id() + "/" + HexFormat.of().toHexDigits(envelope.nonce()),
                delivery.failures(),
                delivery.leaseExpirations(),
                delivery.releases(),
                message);
        if (context.errors().isGiven()) {
            message.decision.by(
                    error -> context.running().within(() -> context.errors().decide(decoded, error)));
        }
        return decoded;
    }
}
