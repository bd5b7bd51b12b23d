package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A message that this node has claimed, until the store has settled it. It is settled once, by the first of: the handler's
 * acknowledgment, the end of the handler, a stop that hands the message back.
 */
final class InFlightMessage implements Acknowledgment {

    /** What became of it here. */
    enum Verdict {
        ACKNOWLEDGED,
        FAILED,
        RELEASED,
        /** This node ends while the handler runs. */
        GIVEN_UP;

        /** Whether it is for another node to run the message. */
        boolean isForOthers() {
            return this == RELEASED || this == GIVEN_UP;
        }
    }

    /**
     * A result for the store.
     *
     * @param failure failure to store, or null
     * @param error   the error, also of a message that is discarded; or null
     */
    record Result(Verdict verdict, @Nullable Failure failure, @Nullable Throwable error) {

        /** Reason of the dead letter, or null. */
        @Nullable String death() {
            return failure == null || failure.retryAfter() != null ? null : ErrorText.firstLine(failure.error());
        }
    }

    /** Receives settled messages, on any thread. */
    interface SettlementSink {

        /** Throws nothing, because the caller may have others to settle. */
        void settled(InFlightMessage message);

        void wake();

        /** Reads a frame that its claim left out; empty if another consumer owns the message now. */
        Optional<Bytes> frame(InFlightMessage message);
    }

    // Constants, because to settle a message must need no memory: its lease would be renewed for ever.
    private static final Result ACKNOWLEDGED = new Result(Verdict.ACKNOWLEDGED, null, null);
    private static final Result RELEASED = new Result(Verdict.RELEASED, null, null);
    private static final Result GIVEN_UP = new Result(Verdict.GIVEN_UP, null, null);

    final ListenerEndpoint endpoint;
    final Delivery delivery;

    /** About a failure that brings no decision of its own. */
    final FailureDecision decision = new FailureDecision();

    /** For {@link SettledMessages}. */
    @Nullable InFlightMessage neighbor;

    private final SettlementSink sink;

    private final AtomicReference<@Nullable Result> result = new AtomicReference<>();
    private volatile RetryPolicy retry;

    private volatile Duration releaseDelay = Duration.ZERO;
    private volatile boolean lost;
    private volatile long startedAt;
    private volatile boolean wasLost;
    private volatile long runNanos;
    private volatile long leaseEnd;

    // For the consumer's loop only.
    private boolean revoked;
    private boolean settlementAttempted;

    private @Nullable HandlerCall execution;

    InFlightMessage(ListenerEndpoint endpoint, Delivery delivery, long leaseEnd, SettlementSink sink) {
        this.endpoint = endpoint;
        this.delivery = delivery;
        this.leaseEnd = leaseEnd;
        this.sink = sink;
        this.retry = endpoint.retry();
    }

    /** The call of the handler that the message belongs to. */
    void attachTo(HandlerCall handlerRun) {
        execution = handlerRun;
    }

    /** The handler starts now, by this node's clock. */
    void markStarted(long nanos) {
        startedAt = nanos;
    }

    /** It is settled now: keeps its runtime, and whether its lease was lost before. Throws nothing. */
    void markSettled(LongSupplier nanos) {
        wasLost = lost;
        try {
            runNanos = nanos.getAsLong() - startedAt;
        } catch (Throwable e) {
            runNanos = 0; // for example without memory
        }
    }

    /** From the start of the handler until the message was settled. */
    Duration runtime() {
        return Duration.ofNanos(runNanos);
    }

    boolean wasLost() {
        return wasLost;
    }

    /** The lease was extended. It ends at this time of this node's clock, or later. */
    void extendLease(long end) {
        leaseEnd = end;
    }

    /** Time in nanoseconds until the lease ends; zero or less if it has ended. */
    long leaseLeft(long now) {
        return leaseEnd - now;
    }

    /** The store has replied that the message belongs to another consumer now, or is gone. */
    void markRevoked() {
        revoked = true;
        lose();
    }

    boolean isRevoked() {
        return revoked;
    }

    /** A call that settles the message got no reply, so it may have been carried out. */
    void markSettlementAttempted() {
        settlementAttempted = true;
    }

    boolean isSettlementAttempted() {
        return settlementAttempted;
    }

    @Nullable HandlerCall execution() {
        return execution;
    }

    /** The message brings a policy of its own. */
    void retry(RetryPolicy own) {
        retry = own;
    }

    static List<Lease> leases(List<InFlightMessage> messages) {
        return messages.stream().map(InFlightMessage::lease).toList();
    }

    Lease lease() {
        return delivery.lease();
    }

    /** Reads a frame that its claim left out, on a handler thread; empty if another consumer owns the message now. */
    Optional<Bytes> frame() {
        return delivery.unread() == 0 ? Optional.of(delivery.frame()) : sink.frame(this);
    }

    String id() {
        return delivery.id();
    }

    int attempt() {
        return delivery.failures() + 1;
    }

    /** What became of it; only once it is settled. */
    Result result() {
        Result settled = result.get();
        if (settled == null) {
            throw new IllegalStateException("Message " + id() + " is not settled");
        }
        return settled;
    }

    boolean isSettled() {
        return result.get() != null;
    }

    @Override
    public void acknowledge() {
        if (!decision.hasBegun()) {
            settle(ACKNOWLEDGED);
        }
    }

    @Override
    public void fail(Throwable error) {
        requireError(error);
        if (isSettled() || isLost()) {
            fail(error, ErrorAction.byDefault());
            return;
        }
        try {
            decision.make(error, action -> fail(error, action));
        } catch (Throwable e) {
            // The end of the run gives the message up, unless it has passed.
            decision.broke();
            HandlerCall current = execution;
            if (current != null && current.hasEnded()) {
                giveUp();
            }
            throw e;
        }
    }

    /** Calls the error handler, unless the message is settled or lost. Null if an earlier failure is being decided. */
    @Nullable ErrorAction decide(Throwable error) {
        return isSettled() || isLost() ? ErrorAction.byDefault() : decision.make(error);
    }

    /** Settles the message after a failure for which a decision was made. */
    void fail(Throwable error, ErrorAction action) {
        if (action instanceof ErrorAction.Discard) {
            settle(new Result(Verdict.ACKNOWLEDGED, null, error));
        } else if (action instanceof ErrorAction.RetryAfter after) {
            retryAfter(error, after);
        } else if (action instanceof ErrorAction.Retry again) {
            retry(error, again.policy() == null ? retry : again.policy());
        } else if (action instanceof ErrorAction.Dead || ErrorActions.isNeverRetried(endpoint, error)) {
            failed(error, null, ErrorText.of(error));
        } else {
            retry(error, retry);
        }
    }

    private void retry(Throwable error, RetryPolicy policy) {
        failed(error, backOff(policy), ErrorText.of(error));
    }

    private void retryAfter(Throwable error, ErrorAction.RetryAfter after) {
        Duration backOff = backOff(retry);
        boolean isLonger = backOff != null && after.atLeastBackOff() && backOff.compareTo(after.delay()) > 0;
        failed(error, backOff == null || isLonger ? backOff : after.delay(), ErrorText.of(error));
    }

    /** Null after the last attempt. */
    private @Nullable Duration backOff(RetryPolicy policy) {
        return policy.delayAfter(attempt(), ThreadLocalRandom.current()).orElse(null);
    }

    @Override
    public void fail(Throwable error, Duration retryAfter) {
        Objects.requireNonNull(
                retryAfter,
                "fail(error, null): give the wait until the next run. reject(error) makes the message dead.");
        requireError(error);
        if (!decision.hasBegun()) {
            failed(error, attempt() < retry.maxAttempts() ? retryAfter : null, ErrorText.of(error));
        }
    }

    @Override
    public void reject(Throwable error) {
        requireError(error);
        if (!decision.hasBegun()) {
            failed(error, null, ErrorText.of(error));
        }
    }

    /** Dead at once: the body was deleted by hand. */
    void rejectWithoutBody() {
        failed(new UndecodableMessageException("The body was deleted", null), null, ErrorNote.BODY_MISSING);
    }

    void release() {
        settle(RELEASED);
    }

    /** Another node is to run it a while later, because this one cannot. */
    void release(Duration delay) {
        releaseDelay = delay;
        release();
    }

    /** The handler still runs at the end of this node: it may be what ends it, so it costs a lost lease. */
    void giveUp() {
        settle(GIVEN_UP);
    }

    Duration releaseDelay() {
        return releaseDelay;
    }

    @Override
    public boolean isLost() {
        Result settled = result.get();
        return lost || (settled != null && settled.verdict().isForOthers());
    }

    /** Another consumer owns the message now, or may own it. */
    void lose() {
        lost = true;
    }

    private static void requireError(Throwable error) {
        Objects.requireNonNull(error, "A failure without an error: give the exception that is kept with the message.");
    }

    private void failed(Throwable error, @Nullable Duration retryAfter, String text) {
        Failure failure = new Failure(lease(), retryAfter, text, endpoint.deadKeyPolicy());
        settle(new Result(Verdict.FAILED, failure, error));
    }

    private void settle(Result settled) {
        if (result.compareAndSet(null, settled)) {
            // Released, because the handler refers to the payload.
            decision.by(null);
            try {
                sink.settled(this);
                HandlerCall current = execution;
                if (current != null) {
                    current.onAllSettled();
                }
            } finally {
                sink.wake();
            }
        }
    }
}
