package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.Borrowed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.ClaimStatus;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Reaped;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Claims messages for a consumer: decides when to claim, repeats claims without a reply, and reaps expired leases.
 *
 * <p><b>When.</b> The reply to a claim contains the next due time. The next claim is then, or at a wakeup for an earlier
 * message, or a second after the last moment at which no wakeup was lost: that of the last claim, or a later one that the
 * subscription proves, but at most ten seconds after the claim. This only schedules the calls; the store decides which messages
 * are due.
 *
 * <p><b>Limits.</b> If the topic has used up its rate, the reply contains the time of the next permit instead of that of the next
 * message. If no place is left in flight, the next claim is when this consumer has settled a message, at a wakeup, which the claim of
 * another consumer sends when it leaves a place free, or after a second.
 *
 * <p><b>Lost replies.</b> A claim without a reply may have been carried out. It is repeated with the same number until it is
 * answered, before anything else is claimed. The reply may have been too large for the command timeout, so each repetition
 * requests half as many bytes of bodies, down to {@link #LEAST_BYTES}. The number grows again with the replies.
 *
 * <p><b>Expired leases.</b> Any consumer of a shard reaps the expired leases of all its consumers, on whatever node: the one
 * whose claim first returns a lease that has ended, by the {@link LeaseClock}. No process does only that.
 */
final class MessageClaimer {

    /**
     * Interval of idle claims without a proof that wakeups arrive: a little less than a second, so that a message whose wakeup was
     * lost is claimed within the second.
     */
    private static final long POLL_INTERVAL = TimeUnit.MILLISECONDS.toNanos(950);

    /** With such proofs. A send that stopped half way, or a clock of the store that jumped ahead, is noticed within this time. */
    private static final long LONGEST_POLL_INTERVAL = TimeUnit.MILLISECONDS.toNanos(9_950);

    private static final long SHORT_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

    /** Outages up to this length expire no lease. */
    private static final long LONG_OUTAGE = TimeUnit.SECONDS.toNanos(1);

    private static final long LEAST_GRACE = TimeUnit.SECONDS.toNanos(2);

    /** Size of a reply that fits into the command timeout on any line. */
    private static final int LEAST_BYTES = 1 << 12;

    private static final int ANSWERS_UNTIL_MORE_BYTES = 16;

    private static final long BETWEEN_GRACES = TimeUnit.SECONDS.toNanos(10);

    private final ShardContext context;
    private final String owner;
    private final Settlements settlements;
    private final Supplier<Duration> sinceProof;
    private final StoreClock storeClock = new StoreClock();
    private final LeaseClock leaseClock;
    private @Nullable Claim unanswered;
    private List<InFlightMessage> piggybacked = List.of();
    private long request;
    private long dueAt;
    private long pollAt;
    private long latestPollAt;
    private @Nullable Long toldWhenFull;
    private boolean leasesHaveEnded;
    private long graceUntil;
    private int bytes = Claim.MOST_BYTES;
    private int answersWithFewerBytes;
    private boolean isThrottled;
    private int wanted = 1;

    /**
     * @param settlements whose acknowledged messages a claim takes along
     * @param sinceProof time since the proof that wakeups arrive
     */
    MessageClaimer(ShardContext context, String owner, Settlements settlements, Supplier<Duration> sinceProof) {
        this.context = context;
        this.owner = owner;
        this.settlements = settlements;
        this.sinceProof = sinceProof;
        this.pollAt = context.nanos();
        this.leaseClock = context.leaseClocks().of(context.shard());
        this.latestPollAt = pollAt;
        this.dueAt = pollAt + LoopExecutor.NEVER;
        this.graceUntil = pollAt - BETWEEN_GRACES;
    }

    /**
     * The reply to a claim.
     *
     * @param requestedAt time of the request, by this node's clock; the leases expire no earlier than counted from it
     * @param blockedByPrefetchRule whether a due message was not handed out, because it must not be prefetched; another claim
     *     is useless until a permit is free
     */
    record ClaimResult(List<Delivery> deliveries, long requestedAt, boolean blockedByPrefetchRule) {}

    /** A message is due earlier than the due time in the last reply. */
    void expect(Instant due) {
        dueAt = Math.min(dueAt, storeClock.nanosAt(due));
    }

    boolean isDue() {
        return context.nanos() - dueAt >= 0 || hasFreedPlace();
    }

    private boolean hasFreedPlace() {
        return toldWhenFull != null && toldWhenFull != settlements.told();
    }

    /** Whether a message is due, or one whose wakeup was lost may be. */
    boolean wantsToClaim() {
        if (isTimeToPoll()) {
            long unprovenSince = context.nanos() - sinceProof.get().toNanos();
            pollAt = Math.max(pollAt, Math.min(latestPollAt, unprovenSince + POLL_INTERVAL));
        }
        return isDue() || isTimeToPoll();
    }

    private boolean isTimeToPoll() {
        return context.nanos() - pollAt >= 0;
    }

    boolean isUnanswered() {
        return unanswered != null;
    }

    /** Number of acknowledgements in a claim without a reply, which may not have reached the store. */
    int piggybacked() {
        return piggybacked.size();
    }

    /** Claims messages for this many permits, or repeats the last claim. */
    ClaimResult claim(ConcurrencyLimiter.Permits calls) {
        if (unanswered == null) {
            int batch = context.endpoint().batchSize();
            int most = Math.min(QueueStore.MAX_BATCH, calls.all() * batch);
            int besideLost = Math.min(most, calls.free() * batch);
            Borrowed borrowed = borrow(most);
            List<InFlightMessage> carried = settlements.firstAcknowledged();
            unanswered = new Claim(
                    owner,
                    ++request,
                    most,
                    besideLost,
                    context.endpoint().lease(),
                    bytes,
                    context.limits(),
                    InFlightMessage.leases(carried),
                    borrowed);
            piggybacked = carried;
            settlements.removeAcknowledged(carried.size());
        }
        long asked = context.nanos();
        Claimed answer = ask(unanswered);
        concludePiggybacked(answer.acknowledged());
        boolean blockedByPrefetchRule = isBlockedByPrefetchRule(calls, answer);
        ClaimResult result = new ClaimResult(answer.deliveries(), asked, blockedByPrefetchRule);
        note(answer, asked, blockedByPrefetchRule);
        growBytes();
        unanswered = null; // not before: after an error the same claim is repeated, and brings the same messages
        return result;
    }

    /** Throws nothing: the messages that the claim has brought would wait for the end of their leases. */
    private void concludePiggybacked(List<Settlement> answers) {
        List<InFlightMessage> carried = piggybacked;
        piggybacked = List.of();
        for (int i = 0; i < carried.size(); i++) {
            try {
                settlements.conclude(carried.get(i), answers.get(i));
            } catch (RuntimeException | Error e) {
                context.events().lost(carried.get(i), e);
            }
        }
    }

    /** Twice as many as the last claim has handed out, and at least two: what this one does not use is lost. */
    private Borrowed borrow(int most) {
        if (!isThrottled || most == 0) {
            return Borrowed.NONE;
        }
        wanted = Math.min(most, 2 * wanted);
        return context.lenders().borrow(context.shard().shard(), wanted, () -> storeClock.at(context.nanos()));
    }

    private Claimed ask(Claim claim) {
        try {
            return context.store().claim(context.shard(), claim);
        } catch (RuntimeException | Error e) {
            // After an error as well, such as one while the reply was read: the call may have been carried out.
            context.lenders().note(context.shard().shard(), false);
            piggybacked.forEach(InFlightMessage::markSettlementAttempted);
            bytes = Math.max(LEAST_BYTES, claim.bytes() / 2);
            answersWithFewerBytes = 0;
            unanswered = claim.within(bytes);
            throw e;
        }
    }

    private void growBytes() {
        if (bytes < Claim.MOST_BYTES && ++answersWithFewerBytes >= ANSWERS_UNTIL_MORE_BYTES) {
            answersWithFewerBytes = 0;
            bytes *= 2;
        }
    }

    private static boolean isBlockedByPrefetchRule(ConcurrencyLimiter.Permits calls, Claimed answer) {
        Instant nextDue = answer.nextDue();
        return calls.all() > 0
                && calls.free() == 0
                && answer.deliveries().isEmpty()
                && nextDue != null
                && !nextDue.isAfter(answer.now());
    }

    private void note(Claimed answer, long asked, boolean blockedByPrefetchRule) {
        long now = context.nanos();
        readClocks(answer.now(), asked, now);
        Instant nextDue = answer.nextDue();
        dueAt = nextDue == null ? now + LoopExecutor.NEVER : storeClock.nanosAt(nextDue);
        boolean nothing = answer.deliveries().isEmpty();
        if (nothing && now - dueAt >= 0 && !blockedByPrefetchRule) {
            // The due messages went to other consumers: no reason to hurry.
            dueAt = now + SHORT_PAUSE;
        }
        isThrottled = answer.status() == ClaimStatus.THROTTLED;
        wanted = isThrottled ? Math.max(1, answer.deliveries().size()) : 1;
        boolean hasDue = isThrottled
                || answer.status() == ClaimStatus.FULL
                || (nextDue != null && !nextDue.isAfter(answer.now()));
        context.lenders().note(context.shard().shard(), !hasDue && answer.status() == ClaimStatus.CLAIMED);
        if (isThrottled) {
            dueAt = Math.min(
                    dueAt, now + context.lenders().untilNext(context.shard().shard()));
        }
        toldWhenFull = answer.status() == ClaimStatus.FULL ? settlements.told() : null;
        Instant nextLeaseEnd = answer.nextLeaseEnd();
        leasesHaveEnded = nextLeaseEnd != null
                && !nextLeaseEnd.isAfter(answer.now())
                && !nextLeaseEnd.isAfter(leaseClock.at(now));
        pollAt = now + POLL_INTERVAL;
        latestPollAt = pollAt;
        if (answer.status() == ClaimStatus.CLAIMED && !blockedByPrefetchRule) {
            long leaseEnd = nextLeaseEnd == null ? now + LoopExecutor.NEVER : storeClock.nanosAt(nextLeaseEnd);
            latestPollAt = Math.max(pollAt, Math.min(now + LONGEST_POLL_INTERVAL, leaseEnd));
        }
    }

    private void readClocks(Instant now, long asked, long arrived) {
        storeClock.set(now, arrived);
        leaseClock.set(now, asked, arrived);
    }

    /** Whether the clock of the store has stepped ahead since the last call, so that leases may be over by it. */
    boolean takeStep() {
        return leaseClock.takeStep();
    }

    /** Reaps if the last claim has seen expired leases. */
    void reapExpiredLeases() {
        if (leasesHaveEnded && !sparesLeases()) {
            reap();
        }
    }

    /**
     * Without a free place there is no claim, but expired leases must be reaped all the same. The call is also made while leases are
     * spared, because the {@link LeaseClock} needs the time in its reply.
     */
    void pollWithoutPermit() {
        if (isTimeToPoll()) {
            reap();
            pollAt = context.nanos() + POLL_INTERVAL;
        }
    }

    /**
     * The store answers again. After a long outage expired leases are not reaped for two seconds or longer: their owners may have
     * finished the messages, and settle them now. On a line that fails again and again this happens once in a while only, so
     * that the messages of a dead node are reaped nevertheless.
     */
    void outageHasEnded(long since) {
        long now = context.nanos();
        if (now - since >= LONG_OUTAGE && now - graceUntil >= BETWEEN_GRACES) {
            graceUntil = now + grace(context.commandTimeout());
        }
    }

    /**
     * When an outage ends, another node may still wait for the reply to a call, as long as for two timeouts. It calls again up to a
     * second later, and then sends its settlements.
     */
    private static long grace(Duration commandTimeout) {
        return Math.max(LEAST_GRACE, TimeUnit.SECONDS.toNanos(1) + 2 * commandTimeout.toNanos());
    }

    private boolean sparesLeases() {
        return context.nanos() - graceUntil < 0;
    }

    private void reap() {
        boolean spares = sparesLeases();
        Reaped reaped;
        do {
            long asked = context.nanos();
            reaped = context.store()
                    .reap(
                            context.shard(),
                            QueueStore.MAX_BATCH,
                            context.endpoint().maxLeaseExpirations(),
                            context.endpoint().leaseExpiredDelay(),
                            context.endpoint().deadKeyPolicy(),
                            spares ? Instant.EPOCH : leaseClock.at(asked));
            readClocks(reaped.now(), asked, context.nanos());
            reaped.lost().forEach(context.events()::leaseExpired);
            if (!reaped.lost().isEmpty()) {
                pollAt = context.nanos();
            }
        } while (reaped.lost().size() == QueueStore.MAX_BATCH);
        leasesHaveEnded = false;
    }

    /** How late a delivery is now. */
    Duration lateness(Delivery delivery) {
        return storeClock.since(delivery.due(), context.nanos());
    }

    /** Time until the next claim, if no message is due before. */
    long untilDue(long now) {
        return hasFreedPlace() ? 0 : Math.min(pollAt, dueAt) - now;
    }

    long untilNextPoll(long now) {
        return pollAt - now;
    }
}
