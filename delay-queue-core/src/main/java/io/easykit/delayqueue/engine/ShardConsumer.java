package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumer of one shard, from one start of its container to the next stop. One loop makes all calls about this shard: it
 * claims ({@link MessageClaimer}), settles ({@link Settlements}), and renews leases ({@link LeaseRenewer}). Handlers and
 * wakeups only leave a note in its mailbox and wake it. So there is at most one call about a message at any time, a lease is
 * not renewed while it is being settled, and a shard whose store does not answer delays no other.
 *
 * <p><b>Claims.</b> As many messages as there are free permits. If the handler is quick, also messages that will begin within
 * a moment ({@link PrefetchPolicy}), so that waiting messages are not bound to a busy node. Acknowledgements travel in the same
 * call. If no permit was free when a poll was due, the next free permit triggers it. Otherwise a lost wakeup would go unnoticed until
 * the poll after that.
 *
 * <p><b>Batching.</b> With runs under way, the loop makes its next call when all of them are done, or after a moment that
 * only short handlers notice. So runs that end shortly after each other share a call. A call costs Redis about as much as ten
 * messages in it do ({@code ProtocolFiguresTests} prints it).
 *
 * <p><b>Lost replies.</b> A call without a reply may have been carried out, so it is repeated until it is answered. While the
 * store is away, an acknowledge, which may be empty, checks whether it answers, because it needs no permit.
 *
 * <p><b>After an outage.</b> Renewals come first, of all leases, because the clock of a promoted server may be ahead. Then come
 * settlements, then the unanswered claim. Expired leases are reaped last: messages that finished during the outage must not run
 * again. Expired leases of other nodes get an extra moment ({@link MessageClaimer#outageHasEnded}), because these nodes have
 * settlements to send as well. A reply whose time is far ahead shows a fail-over that was no outage ({@link LeaseClock}): all leases
 * are renewed at once. During the outage the pauses between two calls get shorter as the end of a lease comes near, so that a lease
 * that outlasts the outage is renewed.
 *
 * <p><b>Stop.</b> Runs that have not begun are handed back. The others get until the deadline; then they are interrupted, and
 * their messages given up at the cost of a lease expiration: a handler that ends its process, or hangs until the process is
 * killed, would be retried for ever. The loop ends when the store has confirmed everything, or has not answered for a while.
 */
final class ShardConsumer implements LoopExecutor.Step, InFlightMessage.SettlementSink {

    private static final Logger log = LoggerFactory.getLogger(ShardConsumer.class);

    /** About as long as a trip takes. */
    private static final long BATCH_WINDOW = TimeUnit.MICROSECONDS.toNanos(200);

    /** Time for the remaining calls after the handlers have ended. */
    private static final long SHUTDOWN_GRACE = TimeUnit.SECONDS.toNanos(2);

    private final ContainerContext container;
    private final ListenerEndpoint endpoint;
    private final Runnable onEnd;
    private final ShardContext context;
    private final ConcurrencyLimiter.Waiter waiter = new ConcurrencyLimiter.Waiter(this::wake);

    // Left by other threads.
    private final SettledMessages settled = new SettledMessages();
    private final AtomicReference<@Nullable Instant> wakeup = new AtomicReference<>();
    private volatile @Nullable Long drainUntil;
    private volatile LoopExecutor.@Nullable Loop loop;

    // For the loop only.
    private final Settlements settlements;
    private final MessageClaimer claimer;
    private final LeaseRenewer leases;
    private final ExecutionStarter starter;
    private final StoreBackOff backOff;
    private final ShardReadiness readiness;
    private boolean waitsForPermit;
    private long batchUntil;
    private @Nullable Long shutdownUntil;

    /** @param onEnd called when the loop has ended after a stop */
    ShardConsumer(ContainerContext container, ShardKey shard, String owner, Runnable onEnd) {
        this.container = container;
        this.endpoint = container.runs().endpoint();
        this.onEnd = onEnd;
        this.context = ShardContext.of(container, shard);
        this.settlements = new Settlements(context);
        this.readiness =
                new ShardReadiness(context, container.engine().topics(), container.shardsKept(), this::onEarlierDue);
        this.claimer = new MessageClaimer(context, owner, settlements, readiness::sinceProof);
        this.leases = new LeaseRenewer(context);
        this.starter = new ExecutionStarter(container, context, leases, this, claimer::lateness);
        this.backOff = new StoreBackOff(context.nanos());
        this.batchUntil = context.nanos();
    }

    void start() {
        LoopExecutor.Loop created =
                container.engine().loops().create("delay-queue-" + endpoint.id() + "-" + context.shard(), this);
        loop = created;
        created.start();
    }

    /** Signals the loop to end; handlers have until then to end by themselves. */
    void stop(long deadline) {
        drainUntil = deadline;
        wake();
    }

    @Override
    public void wake() {
        LoopExecutor.Loop current = loop;
        if (current != null) {
            current.wake();
        }
    }

    @Override
    public long run() {
        drainMailbox();
        leases.dropExpired();
        if (starter.prefetched().haveTimedOut(context.nanos())) {
            container.limiter().recordTimeout();
            starter.prefetched().release();
            drainMailbox(); // before the next claim: it would overtake them
        }
        Long deadline = drainUntil;
        if (deadline != null) {
            drain(deadline);
        }
        if (untilNextSync(context.nanos()) <= 0) {
            syncWithStore();
        }
        if (deadline != null && isDone()) {
            end();
            return LoopExecutor.END;
        }
        return nextWakeup();
    }

    // ---- What other threads leave

    /**
     * On the thread that settles. The caller wakes the loop, when the place is free as well: one trip serves both. The event
     * follows the message, so that a slow listener does not keep the result from the store, nor this loop from its end.
     */
    @Override
    public void settled(InFlightMessage message) {
        message.markSettled(context.clock());
        settled.add(message);
        try {
            container.runs().running().within(() -> context.events().settled(message));
        } catch (Throwable e) {
            context.events().lost(message, e);
        }
    }

    @Override
    public Optional<Bytes> frame(InFlightMessage message) {
        return container.engine().bodies().read(context.shard(), message);
    }

    private void onEarlierDue(ShardKey of, Instant due) {
        wakeup.accumulateAndGet(due, (a, b) -> a == null || (b != null && b.isBefore(a)) ? b : a);
        wake();
    }

    private void drainMailbox() {
        for (InFlightMessage message = settled.peek(); message != null; message = settled.peek()) {
            settlements.add(message);
            leases.remove(message);
            settled.remove();
        }
        Instant earliest = wakeup.getAndSet(null);
        if (earliest != null) {
            claimer.expect(earliest);
        }
    }

    // ---- Talking to the store

    private void syncWithStore() {
        try {
            readiness.ensure();
            leases.renew(backOff.isFailing());
            settlements.tellFailedAndHandedBack();
            if (backOff.isFailing()) {
                settlements.tellAcknowledgedOrNothing();
                claimer.outageHasEnded(backOff.failingSince());
            }
            if (drainUntil == null) {
                claim();
            } else {
                closeClaim();
            }
            settlements.tellAcknowledged();
            if (drainUntil == null) {
                claimer.pollWithoutPermit();
            }
            claimer.reapExpiredLeases();
            leases.renew(claimer.takeStep());
            backOff.succeeded();
            container.engine().standstills().found(this, context.shard());
        } catch (RuntimeException | Error e) {
            // Also an error, such as of a thread that could not be started: a stop has to reach its end.
            backOff(e);
        }
    }

    private void backOff(Throwable e) {
        boolean passing = e instanceof StoreUnavailableException;
        long now = context.nanos();
        backOff.failed(passing, now, leases.untilExpiry(now));
        waitsForPermit = false;
        container.limiter().cancelWait(waiter);
        if (backOff.isFailingRepeatedly() || !passing) {
            container.engine().standstills().lost(this, context.shard(), e);
        }
    }

    // ---- Claim messages and start their runs

    private void claim() {
        boolean looks = waitsForPermit || claimer.wantsToClaim();
        if (!claimer.isUnanswered() && !((looks || settlements.hasAcknowledged()) && mayClaim())) {
            waitsForPermit = false;
            container.limiter().cancelWait(waiter);
            return;
        }
        int most = claimer.isDue() || claimer.isUnanswered() ? QueueStore.MAX_BATCH / endpoint.batchSize() : 1;
        ConcurrencyLimiter.Permits permits = container.limiter().take(waiter, most);
        waitsForPermit = looks && permits.all() == 0;
        if (!looks) {
            container.limiter().cancelWait(waiter);
        }
        if (permits.all() == 0 && !claimer.isUnanswered()) {
            return;
        }
        MessageClaimer.ClaimResult result;
        starter.reset();
        try {
            result = claimer.claim(permits);
            begin(result, permits);
        } finally {
            container.limiter().giveBack(permits.all() - starter.used());
        }
        if (result.blockedByPrefetchRule()) {
            waitsForPermit = true;
            container.limiter().awaitNonPrefetch(waiter);
        }
    }

    private boolean mayClaim() {
        return !container.isPaused().getAsBoolean() && starter.mayStart();
    }

    /** Before the end: a claim without an answer may have messages for us, which are to be handed back. */
    private void closeClaim() {
        container.limiter().cancelWait(waiter);
        if (claimer.isUnanswered()) {
            begin(claimer.claim(ConcurrencyLimiter.Permits.NONE), ConcurrencyLimiter.Permits.NONE);
        }
    }

    private void begin(MessageClaimer.ClaimResult claimed, ConcurrencyLimiter.Permits permits) {
        starter.start(claimed, permits);
        batchUntil = context.nanos() + BATCH_WINDOW;
    }

    // ---- The end

    private void drain(long deadline) {
        boolean over = context.nanos() - deadline >= 0;
        for (InFlightMessage message : leases.all()) {
            HandlerCall run = message.execution();
            if (run != null) {
                run.cancelIfNotStarted();
            }
            if (over) {
                message.giveUp();
            }
            if (over && run != null) {
                run.interruptIfLost();
            }
        }
        drainMailbox();
        if (leases.isEmpty() && shutdownUntil == null) {
            shutdownUntil = context.nanos() + SHUTDOWN_GRACE;
        }
    }

    private boolean isDone() {
        if (!leases.isEmpty()) {
            return false;
        }
        int untold = claimer.piggybacked() + settlements.size();
        if (untold == 0 && !claimer.isUnanswered()) {
            return true;
        }
        Long until = shutdownUntil;
        boolean givesUp = until != null && context.nanos() - until >= 0;
        if (givesUp) {
            log.warn(
                    "Stopped without an answer of the store: {} messages of {}{} run again after their leases",
                    untold,
                    context.shard(),
                    claimer.isUnanswered() ? ", and those that an unanswered claim may have taken," : "");
        }
        return givesUp;
    }

    private void end() {
        container.limiter().cancelWait(waiter);
        container.engine().standstills().forget(this);
        try {
            readiness.close();
        } finally {
            onEnd.run();
        }
    }

    // ---- Resting

    /** Time without work unless the loop is woken. */
    private long nextWakeup() {
        long now = context.nanos();
        long silence = untilNextSync(now);
        long untilCall = silence > 0 ? silence : untilNextWork(now);
        long nextWakeup = Math.min(untilCall, leases.untilExpiry(now));
        nextWakeup = Math.min(nextWakeup, starter.prefetched().untilTimeout(now));
        Long end = leases.isEmpty() ? shutdownUntil : drainUntil;
        if (end != null) {
            nextWakeup = Math.min(nextWakeup, end - now);
        }
        return Math.max(0, nextWakeup);
    }

    /** For how long the store is not to be called: it is away, or there is something to gather. */
    private long untilNextSync(long now) {
        boolean batches = drainUntil == null && !leases.isEmpty();
        return Math.max(backOff.left(now), batches ? batchUntil - now : 0);
    }

    private long untilNextWork(long now) {
        if (settlements.size() > 0) {
            return 0;
        }
        boolean waitsForTime = !waitsForPermit && mayClaim();
        long untilClaim = waitsForTime ? claimer.untilDue(now) : claimer.untilNextPoll(now);
        return Math.min(drainUntil == null ? untilClaim : LoopExecutor.NEVER, leases.untilRenewal(now));
    }
}
