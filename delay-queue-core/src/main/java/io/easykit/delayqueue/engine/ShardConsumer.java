package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.LogText;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Subscription;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumer of one shard, from one start of its container to the next stop. One loop does everything that talks to the
 * store about this shard: it claims ({@link MessageClaimer}), tells what became of the messages ({@link Settlements}), and renews
 * leases ({@link LeaseRenewer}). Handlers and bells only leave word and wake it. So no two calls about a message are ever under
 * way at once, a lease is not renewed while it is being settled, and a shard whose store does not answer holds up no other.
 *
 * <p><b>What it claims.</b> What it has free places for, and where the handler is quick, what begins within a moment
 * ({@link PrefetchPolicy}), so that what waits is not bound to a busy node. What has been acknowledged meanwhile goes along in the
 * same trip.
 *
 * <p><b>Gathering.</b> After it has begun some runs, the loop talks again when all of them are done, or after a moment that no
 * handler notices but a short one: so runs that end one after the other share a trip. A trip costs a Redis about as much as
 * ten messages in it do ({@code ProtocolFiguresTests} prints it).
 *
 * <p><b>Lost answers.</b> A call without an answer may have been carried out, so it is repeated until it is answered. While
 * the store is away, an acknowledge, which may be empty, tests whether it answers: it needs no place, so the places are left
 * to other shards.
 *
 * <p><b>After an outage.</b> Renewals come first, then settlements, then the unanswered claim. Expired leases are reaped last:
 * messages that finished during the outage must not run again. Expired leases of other nodes get an extra moment
 * ({@link MessageClaimer#outageHasEnded}), because these nodes have settlements to send as well. During the outage the pauses between
 * two calls get shorter as the end of a lease comes near, so that a lease that outlasts the outage is renewed.
 *
 * <p><b>Stop.</b> Runs that have not begun are handed back. The others get until the deadline; then they are interrupted, and
 * their messages given up at the cost of a lost lease: a handler that ends its process, or hangs until somebody ends it, would
 * otherwise do so for ever. The loop ends when the store has been told everything, or has not answered for a while.
 */
final class ShardConsumer implements LoopExecutor.Step, InFlightMessage.SettlementSink {

    private static final Logger log = LoggerFactory.getLogger(ShardConsumer.class);

    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final long SHORTEST_PAUSE_AT_LEASE_END = TimeUnit.MILLISECONDS.toNanos(50);

    /** About as long as a trip takes. */
    private static final long BATCH_WINDOW = TimeUnit.MICROSECONDS.toNanos(200);

    /** For what is left to tell the store when the handlers have ended. */
    private static final long SHUTDOWN_GRACE = TimeUnit.SECONDS.toNanos(2);

    /**
     * What the consumers of a container share.
     *
     * @param limiter   free calls of the handler
     * @param workers  runs handlers
     * @param isPaused whether the container shall claim nothing for now
     * @param shardsKept takes the number of shards that the store has kept
     */
    record ContainerContext(
            EngineContext engine,
            MessageExecution.HandlerContext runs,
            ConcurrencyLimiter limiter,
            Workers workers,
            BooleanSupplier isPaused,
            IntConsumer shardsKept) {}

    private final ContainerContext container;
    private final ListenerEndpoint endpoint;
    private final ShardKey shard;
    private final Runnable onEnd;
    private final ShardContext context;
    private final ConcurrencyLimiter.Waiter waiter = new ConcurrencyLimiter.Waiter(this::wake);

    // Left by other threads.
    private final Queue<InFlightMessage> settled = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable Instant> wakeup = new AtomicReference<>();
    private volatile @Nullable Long drainUntil;
    private volatile LoopExecutor.@Nullable Loop loop;

    // For the loop only.
    private final Settlements settlements;
    private final MessageClaimer claimer;
    private final LeaseRenewer leases;
    private final PrefetchedRuns prefetched = new PrefetchedRuns();
    private @Nullable Subscription subscription;
    private boolean knowsTopic;
    private boolean waitsForPermit;
    private int used;
    private int consecutiveFailures;
    private long failingSince;
    private long backOffUntil;
    private long batchUntil;
    private long refusedUntil;
    private @Nullable Long shutdownUntil;

    /** @param onEnd called when the loop has ended after a stop */
    ShardConsumer(ContainerContext container, ShardKey shard, String owner, Runnable onEnd) {
        this.container = container;
        this.endpoint = container.runs().endpoint();
        this.shard = shard;
        this.onEnd = onEnd;
        EngineContext engine = container.engine();
        this.context = new ShardContext(
                shard,
                endpoint,
                engine.store(),
                new ShardEvents(shard, endpoint, engine.events(), engine.loopEvents(), engine.lines()),
                engine.loops()::nanos);
        this.settlements = new Settlements(context);
        this.claimer = new MessageClaimer(context, owner, settlements);
        this.leases = new LeaseRenewer(context);
        this.backOffUntil = context.nanos();
        this.batchUntil = backOffUntil;
        this.refusedUntil = backOffUntil;
    }

    void start() {
        LoopExecutor.Loop created =
                container.engine().loops().create("delay-queue-" + endpoint.id() + "-" + shard, this);
        loop = created;
        created.start();
    }

    /** Asks the loop to end; handlers have until then to end by themselves. */
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
        if (prefetched.haveTimedOut(context.nanos())) {
            container.limiter().recordTimeout();
            prefetched.release();
            // Before the next claim: it would overtake them.
            drainMailbox();
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

    /** On the thread that settles. The caller wakes the loop, when the place is free as well: one trip serves both. */
    @Override
    public void settled(InFlightMessage message) {
        try {
            context.events().settled(message, Duration.ofNanos(context.nanos() - message.startedAt));
        } finally {
            settled.add(message);
        }
    }

    @Override
    public Optional<Bytes> frame(InFlightMessage message) {
        return container.engine().bodies().read(shard, message);
    }

    private void onEarlierDue(ShardKey of, Instant due) {
        wakeup.accumulateAndGet(due, (a, b) -> a == null || (b != null && b.isBefore(a)) ? b : a);
        wake();
    }

    private void drainMailbox() {
        for (InFlightMessage message = settled.poll(); message != null; message = settled.poll()) {
            leases.remove(message);
            settlements.add(message);
        }
        Instant earliest = wakeup.getAndSet(null);
        if (earliest != null) {
            claimer.expect(earliest);
        }
    }

    // ---- Talking to the store

    private void syncWithStore() {
        try {
            ensureReady();
            leases.renew();
            settlements.tellFailedAndHandedBack();
            if (consecutiveFailures > 0) {
                settlements.tellAcknowledgedOrNothing();
                claimer.outageHasEnded(failingSince);
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
            consecutiveFailures = 0;
            container.engine().availability().found(this, shard);
        } catch (RuntimeException e) {
            backOff(e);
        }
    }

    private void backOff(RuntimeException e) {
        boolean passing = e instanceof StoreUnavailableException;
        long now = context.nanos();
        if (consecutiveFailures == 0) {
            failingSince = now;
        }
        backOffUntil = now + (passing ? pause(now) : LONGEST_PAUSE);
        consecutiveFailures++;
        waitsForPermit = false;
        container.limiter().cancelWait(waiter);
        if (consecutiveFailures > 1 || !passing) {
            container.engine().availability().lost(this, shard, e);
        }
    }

    private long pause(long now) {
        long pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(consecutiveFailures, 10));
        long jittered = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2);
        return Math.min(jittered, Math.max(SHORTEST_PAUSE_AT_LEASE_END, leases.untilExpiry(now) / 4));
    }

    /** What comes first: the topic's shard count, and the bell. */
    private void ensureReady() {
        if (!knowsTopic) {
            container.shardsKept().accept(container.engine().topics().shards(shard.topic()));
            knowsTopic = true;
        }
        if (subscription == null) {
            subscription = context.store().subscribe(List.of(shard), this::onEarlierDue);
        }
    }

    // ---- Claiming, and beginning what was claimed

    private void claim() {
        boolean wanted = claimer.isDue() || claimer.isTimeToPoll() || settlements.hasAcknowledged();
        if (!claimer.isUnanswered() && !(wanted && mayClaim())) {
            waitsForPermit = false;
            container.limiter().cancelWait(waiter);
            return;
        }
        boolean expectsSome = claimer.isDue() || claimer.isUnanswered();
        ConcurrencyLimiter.Permits permits =
                container.limiter().take(waiter, expectsSome ? QueueStore.MAX_BATCH / endpoint.batchSize() : 1);
        waitsForPermit = permits.all() == 0;
        if (waitsForPermit && !claimer.isUnanswered()) {
            return;
        }
        boolean blockedByPrefetchRule = false;
        used = 0;
        try {
            MessageClaimer.ClaimResult result = claimer.claim(permits);
            begin(result, permits);
            blockedByPrefetchRule = result.blockedByPrefetchRule();
        } finally {
            container.limiter().giveBack(permits.all() - used);
        }
        if (blockedByPrefetchRule) {
            waitsForPermit = true;
            container.limiter().awaitNonPrefetch(waiter);
        }
    }

    private boolean mayClaim() {
        return !container.isPaused().getAsBoolean() && context.nanos() - refusedUntil >= 0;
    }

    /** Before the end: a claim without an answer may have messages for us, which are to be handed back. */
    private void closeClaim() {
        container.limiter().cancelWait(waiter);
        if (claimer.isUnanswered()) {
            begin(claimer.claim(ConcurrencyLimiter.Permits.NONE), ConcurrencyLimiter.Permits.NONE);
        }
    }

    /** What there is no place for is handed back. */
    private void begin(MessageClaimer.ClaimResult claimed, ConcurrencyLimiter.Permits permits) {
        List<Delivery> deliveries = claimed.deliveries();
        for (int from = 0; from < deliveries.size(); from += endpoint.batchSize()) {
            int to = Math.min(deliveries.size(), from + endpoint.batchSize());
            List<InFlightMessage> batch = new ArrayList<>(to - from);
            for (Delivery delivery : deliveries.subList(from, to)) {
                batch.add(new InFlightMessage(endpoint, delivery, claimed.requestedAt() + context.leaseNanos(), this));
            }
            leases.add(batch, claimed.requestedAt());
            if (used < permits.all()) {
                begin(batch, used >= permits.free());
            } else {
                batch.forEach(InFlightMessage::release);
            }
        }
        batchUntil = context.nanos() + BATCH_WINDOW;
    }

    private void begin(List<InFlightMessage> batch, boolean isPrefetched) {
        ConcurrencyLimiter limiter = container.limiter();
        boolean poisonSuspect = batch.stream().anyMatch(message -> message.delivery.lost() > 0);
        MessageExecution run = new MessageExecution(
                container.runs(),
                batch,
                message -> claimer.lateness(message.delivery),
                nanos -> limiter.end(nanos, poisonSuspect));
        used++;
        if (poisonSuspect) {
            limiter.beginPoisonSuspect();
        }
        try {
            container.workers().execute(run);
            if (isPrefetched) {
                prefetched.add(run, context.nanos());
            }
        } catch (Throwable e) {
            // Refused, or no thread could be made.
            refusedUntil = context.nanos() + LONGEST_PAUSE;
            run.cancelIfNotStarted();
            container
                    .engine()
                    .lines()
                    .warn(
                            log,
                            shard.topic(),
                            "No worker takes a message of {}; it is handed back: {}",
                            shard,
                            LogText.of(e.toString()));
        }
    }

    // ---- The end

    private void drain(long deadline) {
        boolean over = context.nanos() - deadline >= 0;
        for (InFlightMessage message : leases.all()) {
            MessageExecution run = message.run();
            if (run != null) {
                run.cancelIfNotStarted();
            }
            if (over) {
                message.giveUp();
                interrupt(run);
            }
        }
        drainMailbox();
        if (leases.isEmpty() && shutdownUntil == null) {
            shutdownUntil = context.nanos() + SHUTDOWN_GRACE;
        }
    }

    private static void interrupt(@Nullable MessageExecution run) {
        if (run != null) {
            run.interruptIfLost();
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
                    shard,
                    claimer.isUnanswered() ? ", and those that an unanswered claim may have taken," : "");
        }
        return givesUp;
    }

    private void end() {
        container.limiter().cancelWait(waiter);
        container.engine().availability().forget(this);
        Subscription current = subscription;
        try {
            if (current != null) {
                current.close();
            }
        } catch (RuntimeException e) {
            log.debug("The bell of {} did not end cleanly", shard, e);
        } finally {
            onEnd.run();
        }
    }

    // ---- Resting

    /** For how long there is nothing to do unless somebody wakes the loop. */
    private long nextWakeup() {
        long now = context.nanos();
        long silence = untilNextSync(now);
        long nextWakeup = silence > 0 ? silence : untilNextWork(now);
        nextWakeup = Math.min(nextWakeup, Math.min(leases.untilExpiry(now), prefetched.untilTimeout(now)));
        Long end = leases.isEmpty() ? shutdownUntil : drainUntil;
        if (end != null) {
            nextWakeup = Math.min(nextWakeup, end - now);
        }
        return Math.max(0, nextWakeup);
    }

    /** For how long the store is not to be called: it is away, or there is something to gather. */
    private long untilNextSync(long now) {
        boolean batches = drainUntil == null && !leases.isEmpty();
        return Math.max(backOffUntil - now, batches ? batchUntil - now : 0);
    }

    private long untilNextWork(long now) {
        if (settlements.size() > 0) {
            return 0;
        }
        long nextWakeup = drainUntil == null ? untilNextPoll(now) : ShardContext.NEVER;
        return Math.min(nextWakeup, leases.untilRenewal(now));
    }

    private long untilNextPoll(long now) {
        boolean waitsForTime = !waitsForPermit && mayClaim();
        return waitsForTime ? claimer.untilDue(now) : claimer.untilNextPoll(now);
    }
}
