package io.easykit.delayqueue;

import io.easykit.delayqueue.HeldMessage.Verdict;
import io.easykit.delayqueue.QueueStore.Claim;
import io.easykit.delayqueue.QueueStore.Claimed;
import io.easykit.delayqueue.QueueStore.Delivery;
import io.easykit.delayqueue.QueueStore.Failure;
import io.easykit.delayqueue.QueueStore.Lease;
import io.easykit.delayqueue.QueueStore.LostLease;
import io.easykit.delayqueue.QueueStore.Reaped;
import io.easykit.delayqueue.QueueStore.Settlement;
import io.easykit.delayqueue.StoredMessage.ErrorNote;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumer of one shard, from one start of its container to the next stop. One loop does everything that talks to the
 * store about this shard: it claims, settles, renews leases, and takes back what others have lost. Handlers and bells only
 * leave word and wake it. So no two calls about a message are ever under way at once, a lease is not renewed while it is
 * being settled, and a shard whose store does not answer holds up no other.
 *
 * <p><b>When it looks.</b> Each claim tells when the next message is due. The loop sleeps until then, until a bell tells of
 * something earlier, until a place is free while something is due, or until a second has passed, in case a bell was lost.
 * All of this only decides when to ask; what is due is for the store to say.
 *
 * <p><b>What it claims.</b> No more than it has free places for, so that what waits is not bound to a busy node. What
 * has been acknowledged meanwhile goes along in the same trip.
 *
 * <p><b>Lost answers.</b> A call without an answer may have been carried out. A claim is therefore asked again with the same
 * number until it is answered, before anything else is claimed; what is to be settled stays on its list until it is
 * answered. When a repetition changes nothing, the first call has reached the store, or somebody else has had the message
 * since; a death is told only if the store shows that it is this one. While the store is away, a call that needs no place
 * asks for it, so that the places are left to other shards.
 *
 * <p><b>Leases.</b> Those of open messages are renewed together after a third of their time. A message is lost when the
 * store says so, or when its lease has ended by this node's own clock, which started before the store's: its handler is
 * interrupted and told. Its result is still reported to the store, where the delivery number decides.
 *
 * <p><b>Stop.</b> Runs that have not begun are handed back, the others get until the deadline, then they are interrupted and
 * handed back as well. The loop ends when the store has been told everything, or has not answered for a while.
 */
final class ShardConsumer implements Scheduler.Step, HeldMessage.Home {

    private static final Logger log = LoggerFactory.getLogger(ShardConsumer.class);

    /** A look once a second, a little sooner so that a message whose bell was lost is claimed within the second. */
    static final long LOOK = TimeUnit.MILLISECONDS.toNanos(950);

    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

    /** For what is left to tell the store when the handlers have ended. */
    private static final long FAREWELL = TimeUnit.SECONDS.toNanos(2);

    private static final long SHORT_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long NEVER = TimeUnit.DAYS.toNanos(1);
    private static final int MAX_BATCH = QueueStore.MAX_BATCH;

    /**
     * What the consumers of a container share.
     *
     * @param places   free calls of the handler
     * @param workers  runs handlers
     * @param isPaused whether the container shall claim nothing for now
     */
    record Shared(
            EngineParts engine, HandlerRun.Setting runs, Places places, Executor workers, BooleanSupplier isPaused) {}

    private final Shared shared;
    private final ListenerEndpoint endpoint;
    private final QueueStore store;
    private final Events events;
    private final ShardKey shard;
    private final String owner;
    private final Runnable onEnd;
    private final long leaseNanos;
    private final StoreClock clock = new StoreClock();
    private final Places.Waiter waiter = new Places.Waiter(this::wake);

    // Left by other threads.
    private final Queue<HeldMessage> settled = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable Instant> bell = new AtomicReference<>();
    private volatile @Nullable Long drainUntil;
    private volatile Scheduler.@Nullable Loop loop;

    // For the loop only.
    private final Set<HeldMessage> open = new LinkedHashSet<>();
    private final Deque<HeldMessage> acknowledged = new ArrayDeque<>();
    private final Deque<HeldMessage> failed = new ArrayDeque<>();
    private final Deque<HeldMessage> handedBack = new ArrayDeque<>();
    private QueueStore.@Nullable Subscription subscription;
    private boolean knowsTopic;
    private @Nullable Claim unanswered;
    private List<HeldMessage> unansweredAcknowledged = List.of();
    private long request;
    private long dueAt;
    private long lookAt;
    private long renewAt;
    private boolean leasesHaveEnded;
    private boolean waitsForPlace;
    private int troubles;
    private long quietUntil;
    private long refusedUntil;
    private @Nullable Long farewellUntil;

    /** @param onEnd called when the loop has ended after a stop */
    ShardConsumer(Shared shared, ShardKey shard, String owner, Runnable onEnd) {
        this.shared = shared;
        this.endpoint = shared.runs().endpoint();
        this.store = shared.engine().store();
        this.events = shared.engine().events();
        this.shard = shard;
        this.owner = owner;
        this.onEnd = onEnd;
        this.leaseNanos = endpoint.lease().toNanos();
        long now = nanos();
        this.dueAt = now + NEVER;
        this.lookAt = now;
        this.renewAt = now;
        this.quietUntil = now;
        this.refusedUntil = now;
    }

    void start() {
        Scheduler.Loop created = shared.engine().scheduler().create("delay-queue-" + endpoint.id() + "-" + shard, this);
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
        Scheduler.Loop current = loop;
        if (current != null) {
            current.wake();
        }
    }

    @Override
    public long run() {
        hear();
        giveUpEnded();
        Long deadline = drainUntil;
        if (deadline != null) {
            drain(deadline);
        }
        if (nanos() - quietUntil >= 0) {
            talk();
        }
        if (deadline != null && isDone()) {
            end();
            return Scheduler.END;
        }
        return rest();
    }

    // ---- What other threads have left

    private void hear() {
        for (HeldMessage message = settled.poll(); message != null; message = settled.poll()) {
            open.remove(message);
            if (message.gone) {
                tellLate(message);
            } else {
                listFor(message).add(message);
            }
        }
        Instant rung = bell.getAndSet(null);
        if (rung != null) {
            dueAt = Math.min(dueAt, clock.nanosAt(rung));
        }
    }

    private Deque<HeldMessage> listFor(HeldMessage message) {
        return switch (message.result().verdict()) {
            case ACKNOWLEDGED -> acknowledged;
            case FAILED -> failed;
            case HANDED_BACK -> handedBack;
        };
    }

    private void onBell(ShardKey of, Instant due) {
        bell.accumulateAndGet(due, (a, b) -> a == null || (b != null && b.isBefore(a)) ? b : a);
        wake();
    }

    /** On the thread that settles. The caller wakes the loop, when the place is free as well: one trip serves both. */
    @Override
    public void settled(HeldMessage message) {
        tell(message);
        settled.add(message);
    }

    private void tell(HeldMessage message) {
        HeldMessage.Result result = message.result();
        if (result.verdict() == Verdict.HANDED_BACK) {
            return;
        }
        Duration runtime = Duration.ofNanos(nanos() - message.began);
        Failure failure = result.failure();
        Throwable error = result.error();
        if (failure == null || error == null) {
            events.emit(new DelayQueueEvent.Completed(
                    shard.topic(), endpoint.id(), message.id(), message.attempt(), runtime));
        } else {
            log.debug("Run {} of message {} of {} failed", message.attempt(), message.id(), shard, error);
            events.emit(new DelayQueueEvent.Failed(
                    shard.topic(),
                    endpoint.id(),
                    message.id(),
                    message.attempt(),
                    error,
                    failure.retryAfter(),
                    runtime));
        }
    }

    // ---- Talking to the store

    private void talk() {
        try {
            greet();
            renew();
            settleAll();
            if (drainUntil == null) {
                claim();
            } else {
                closeClaim();
            }
            acknowledgeRest();
            lookWithoutPlace();
            takeBackLost();
            troubles = 0;
            shared.engine().availability().found(this);
        } catch (RuntimeException e) {
            beQuiet(e);
        }
    }

    private void beQuiet(RuntimeException e) {
        boolean passing = e instanceof StoreUnavailableException;
        long pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(troubles, 10));
        long jittered = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2);
        troubles++;
        quietUntil = nanos() + (passing ? jittered : LONGEST_PAUSE);
        waitsForPlace = false;
        shared.places().decline(waiter);
        if (troubles > 1 || !passing) {
            shared.engine().availability().lost(this, shard, e);
        }
    }

    /** What comes first: the topic's shard count, the bell, and a call without places if the last one failed. */
    private void greet() {
        if (!knowsTopic) {
            shared.engine().topics().shards(shard.topic());
            knowsTopic = true;
        }
        if (subscription == null) {
            subscription = store.subscribe(List.of(shard), this::onBell);
        }
        if (troubles > 0) {
            reap();
        }
    }

    // ---- Leases

    private void renew() {
        if (open.isEmpty() || nanos() - renewAt < 0) {
            return;
        }
        long asked = nanos();
        for (List<HeldMessage> some : PreparedMessage.batches(open)) {
            List<Settlement> answers = store.extend(shard, leases(some), endpoint.lease());
            for (int i = 0; i < answers.size(); i++) {
                HeldMessage message = some.get(i);
                if (answers.get(i) == Settlement.APPLIED) {
                    message.leaseEnd = asked + leaseNanos;
                } else {
                    message.gone = true;
                    lose(message);
                }
            }
        }
        renewAt = asked + leaseNanos / 3;
    }

    private void giveUpEnded() {
        long now = nanos();
        open.stream().filter(message -> now - message.leaseEnd >= 0).toList().forEach(this::lose);
    }

    private void lose(HeldMessage message) {
        open.remove(message);
        message.lose();
        HandlerRun run = message.run();
        if (message.isSettled() || run == null) {
            return;
        }
        log.warn("Message {} of {} has lost its lease, and its handler is interrupted", message.id(), shard);
        events.emit(new DelayQueueEvent.LeaseLost(shard.topic(), endpoint.id(), message.id()));
        run.abandon();
        run.interruptIfLost();
        run.onClosed();
    }

    private void takeBackLost() {
        if (leasesHaveEnded) {
            reap();
        }
    }

    private void reap() {
        Reaped reaped;
        do {
            reaped = store.reap(shard, MAX_BATCH, endpoint.maxLost(), endpoint.lostDelay());
            clock.set(reaped.now(), nanos());
            reaped.lost().forEach(this::tell);
        } while (reaped.lost().size() == MAX_BATCH);
        leasesHaveEnded = false;
        if (!reaped.lost().isEmpty()) {
            lookAt = nanos();
        }
    }

    private void tell(LostLease lost) {
        String id = lost.lease().id();
        log.info("The lease of {} on message {} of {} has ended", lost.owner(), id, shard);
        events.emit(new DelayQueueEvent.LeaseExpired(shard.topic(), id, lost.owner(), lost.lostSoFar()));
        if (lost.dead()) {
            tellDeath(id, ErrorNote.LEASE_LOST);
        }
    }

    // ---- Settling

    private void settleAll() {
        settle(
                failed,
                some -> store.fail(
                        shard, some.stream().map(ShardConsumer::failure).toList()));
        settle(handedBack, some -> store.release(shard, leases(some)));
    }

    /** What no claim has taken along. */
    private void acknowledgeRest() {
        settle(acknowledged, some -> store.acknowledge(shard, leases(some)));
    }

    private void settle(Deque<HeldMessage> list, Function<List<HeldMessage>, List<Settlement>> call) {
        while (!list.isEmpty()) {
            List<HeldMessage> some = list.stream().limit(MAX_BATCH).toList();
            try {
                List<Settlement> answers = call.apply(some);
                for (int i = 0; i < some.size(); i++) {
                    conclude(some.get(i), answers.get(i));
                    list.removeFirst();
                }
            } catch (StoreUnavailableException e) {
                some.forEach(message -> message.asked = true);
                throw e;
            }
        }
    }

    private void conclude(HeldMessage message, Settlement answer) {
        String death = message.result().death();
        if (answer != Settlement.APPLIED && !(message.asked && (death == null || hasDied(message)))) {
            tellLate(message);
        } else if (death != null) {
            tellDeath(message.id(), death);
        }
    }

    /** Whether it was the run's failure that the message died of: not that of a later run, nor the loss of the lease. */
    private boolean hasDied(HeldMessage message) {
        return store.find(shard, message.id())
                .filter(found -> found.place() == StoredMessage.Place.DEAD)
                .map(StoredMessage::history)
                .filter(history ->
                        history.number() == message.delivery.number() && history.failures() == message.attempt())
                .isPresent();
    }

    private void tellLate(HeldMessage message) {
        if (message.result().verdict() != Verdict.HANDED_BACK) {
            log.warn("The result of message {} of {} came too late and changed nothing", message.id(), shard);
            events.emit(new DelayQueueEvent.SettledLate(shard.topic(), endpoint.id(), message.id()));
        }
    }

    private void tellDeath(String id, String reason) {
        log.warn("Message {} of {} is dead: {}", id, shard, reason);
        events.emit(new DelayQueueEvent.Died(shard.topic(), id, reason));
    }

    private static Failure failure(HeldMessage message) {
        return Objects.requireNonNull(message.result().failure());
    }

    private static List<Lease> leases(List<HeldMessage> messages) {
        return messages.stream().map(HeldMessage::lease).toList();
    }

    // ---- Claiming

    private void claim() {
        boolean due = nanos() - dueAt >= 0;
        boolean wanted = due || nanos() - lookAt >= 0 || !acknowledged.isEmpty();
        if (unanswered == null && !(wanted && mayClaim())) {
            waitsForPlace = false;
            shared.places().decline(waiter);
            return;
        }
        int most = due || unanswered != null ? MAX_BATCH / endpoint.batchSize() : 1;
        int taken = shared.places().take(waiter, most);
        waitsForPlace = taken == 0;
        int used = 0;
        try {
            used = taken == 0 ? 0 : claim(taken);
        } finally {
            shared.places().giveBack(taken - used);
        }
    }

    private boolean mayClaim() {
        return !shared.isPaused().getAsBoolean() && nanos() - refusedUntil >= 0;
    }

    /** Returns how many of the places are used. */
    private int claim(int places) {
        if (unanswered == null) {
            unansweredAcknowledged = acknowledged.stream().limit(MAX_BATCH).toList();
            unansweredAcknowledged.forEach(message -> acknowledged.removeFirst());
            unanswered = new Claim(
                    owner,
                    ++request,
                    Math.min(MAX_BATCH, places * endpoint.batchSize()),
                    endpoint.lease(),
                    leases(unansweredAcknowledged));
        }
        return ask(unanswered, places);
    }

    /** Before the end: a claim without an answer may have messages for us, which are to be handed back. */
    private void closeClaim() {
        shared.places().decline(waiter);
        if (unanswered != null) {
            ask(unanswered, 0);
        }
    }

    private int ask(Claim claim, int places) {
        long asked = nanos();
        Claimed answer;
        try {
            answer = store.claim(shard, claim);
        } catch (StoreUnavailableException e) {
            unansweredAcknowledged.forEach(message -> message.asked = true);
            throw e;
        }
        unanswered = null;
        for (int i = 0; i < unansweredAcknowledged.size(); i++) {
            conclude(unansweredAcknowledged.get(i), answer.acknowledged().get(i));
        }
        unansweredAcknowledged = List.of();
        note(answer);
        return begin(answer.deliveries(), asked, places);
    }

    private void note(Claimed answer) {
        long now = nanos();
        clock.set(answer.now(), now);
        Instant nextDue = answer.nextDue();
        dueAt = nextDue == null ? now + NEVER : clock.nanosAt(nextDue);
        boolean nothing = answer.deliveries().isEmpty();
        if (nothing && now - dueAt >= 0) {
            // What is due has gone elsewhere: no reason to ask in a rush.
            dueAt = now + SHORT_PAUSE;
        }
        lookAt = now + LOOK;
        Instant nextLeaseEnd = answer.nextLeaseEnd();
        leasesHaveEnded = nextLeaseEnd != null && !nextLeaseEnd.isAfter(answer.now());
    }

    private int begin(List<Delivery> deliveries, long asked, int places) {
        if (open.isEmpty()) {
            renewAt = asked + leaseNanos / 3;
        }
        int used = 0;
        for (int from = 0; from < deliveries.size(); from += endpoint.batchSize()) {
            int to = Math.min(deliveries.size(), from + endpoint.batchSize());
            List<HeldMessage> batch = new ArrayList<>(to - from);
            for (Delivery delivery : deliveries.subList(from, to)) {
                batch.add(new HeldMessage(endpoint, delivery, asked + leaseNanos, this));
            }
            open.addAll(batch);
            if (used < places) {
                used++;
                begin(batch);
            } else {
                batch.forEach(HeldMessage::handBack);
            }
        }
        return used;
    }

    private void begin(List<HeldMessage> batch) {
        HandlerRun run = new HandlerRun(
                shared.runs(), batch, message -> clock.since(message.delivery.due(), nanos()), () -> shared.places()
                        .giveBack(1));
        try {
            shared.workers().execute(run);
        } catch (RejectedExecutionException e) {
            log.warn("No worker takes a message of {}; it is handed back", shard, e);
            refusedUntil = nanos() + LONGEST_PAUSE;
            run.abandon();
        }
    }

    /** When all places are busy, or the container pauses, somebody still has to notice leases that have ended. */
    private void lookWithoutPlace() {
        if (drainUntil == null && nanos() - lookAt >= 0) {
            reap();
            lookAt = nanos() + LOOK;
        }
    }

    // ---- The end

    private void drain(long deadline) {
        boolean over = nanos() - deadline >= 0;
        for (HeldMessage message : List.copyOf(open)) {
            HandlerRun run = message.run();
            if (run != null) {
                run.abandon();
            }
            if (over) {
                message.handBack();
                interrupt(run);
            }
        }
        hear();
        if (open.isEmpty() && farewellUntil == null) {
            farewellUntil = nanos() + FAREWELL;
        }
    }

    private static void interrupt(@Nullable HandlerRun run) {
        if (run != null) {
            run.interruptIfLost();
        }
    }

    private boolean isDone() {
        if (!open.isEmpty()) {
            return false;
        }
        int untold = unansweredAcknowledged.size() + acknowledged.size() + failed.size() + handedBack.size();
        if (untold == 0 && unanswered == null) {
            return true;
        }
        Long until = farewellUntil;
        boolean givesUp = until != null && nanos() - until >= 0;
        if (givesUp) {
            log.warn(
                    "Stopped without an answer of the store: {} messages of {} run again after their leases",
                    untold,
                    shard);
        }
        return givesUp;
    }

    private void end() {
        shared.places().decline(waiter);
        shared.engine().availability().forget(this);
        QueueStore.Subscription current = subscription;
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

    // ---- Time

    private long nanos() {
        return shared.engine().scheduler().nanos();
    }

    /** For how long there is nothing to do unless somebody wakes the loop. */
    private long rest() {
        long now = nanos();
        long rest = now - quietUntil < 0 ? quietUntil - now : restWhileTalking(now);
        for (HeldMessage message : open) {
            rest = Math.min(rest, message.leaseEnd - now);
        }
        Long end = open.isEmpty() ? farewellUntil : drainUntil;
        if (end != null) {
            rest = Math.min(rest, end - now);
        }
        return Math.max(0, rest);
    }

    private long restWhileTalking(long now) {
        if (!acknowledged.isEmpty() || !failed.isEmpty() || !handedBack.isEmpty()) {
            return 0;
        }
        long rest = drainUntil == null ? restUntilLook(now) : NEVER;
        return open.isEmpty() ? rest : Math.min(rest, renewAt - now);
    }

    private long restUntilLook(long now) {
        boolean waitsForTime = !waitsForPlace && mayClaim();
        return waitsForTime ? Math.min(lookAt, dueAt) - now : lookAt - now;
    }
}
