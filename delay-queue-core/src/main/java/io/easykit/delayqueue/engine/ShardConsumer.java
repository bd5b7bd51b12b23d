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
 * store about this shard: it claims ({@link Intake}), tells what became of the messages ({@link Settlements}), and renews
 * leases ({@link HeldLeases}). Handlers and bells only leave word and wake it. So no two calls about a message are ever under
 * way at once, a lease is not renewed while it is being settled, and a shard whose store does not answer holds up no other.
 *
 * <p><b>What it claims.</b> What it has free places for, and where the handler is quick, what begins within a moment
 * ({@link Prefetch}), so that what waits is not bound to a busy node. What has been acknowledged meanwhile goes along in the
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
 * ({@link Intake#outageHasEnded}), because these nodes have settlements to send as well. During the outage the pauses between
 * two calls get shorter as the end of a lease comes near, so that a lease that outlasts the outage is renewed.
 *
 * <p><b>Stop.</b> Runs that have not begun are handed back. The others get until the deadline; then they are interrupted, and
 * their messages given up at the cost of a lost lease: a handler that ends its process, or hangs until somebody ends it, would
 * otherwise do so for ever. The loop ends when the store has been told everything, or has not answered for a while.
 */
final class ShardConsumer implements Scheduler.Step, HeldMessage.Home {

    private static final Logger log = LoggerFactory.getLogger(ShardConsumer.class);

    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final long SHORTEST_PAUSE_AT_LEASE_END = TimeUnit.MILLISECONDS.toNanos(50);

    /** About as long as a trip takes. */
    private static final long GATHER = TimeUnit.MICROSECONDS.toNanos(200);

    /** For what is left to tell the store when the handlers have ended. */
    private static final long FAREWELL = TimeUnit.SECONDS.toNanos(2);

    /**
     * What the consumers of a container share.
     *
     * @param places   free calls of the handler
     * @param workers  runs handlers
     * @param isPaused whether the container shall claim nothing for now
     * @param shardsKept takes the number of shards that the store has kept
     */
    record Shared(
            EngineParts engine,
            HandlerRun.Setting runs,
            Places places,
            Workers workers,
            BooleanSupplier isPaused,
            IntConsumer shardsKept) {}

    private final Shared shared;
    private final ListenerEndpoint endpoint;
    private final ShardKey shard;
    private final Runnable onEnd;
    private final ShardScope scope;
    private final Places.Waiter waiter = new Places.Waiter(this::wake);

    // Left by other threads.
    private final Queue<HeldMessage> settled = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable Instant> bell = new AtomicReference<>();
    private volatile @Nullable Long drainUntil;
    private volatile Scheduler.@Nullable Loop loop;

    // For the loop only.
    private final Settlements settlements;
    private final Intake intake;
    private final HeldLeases leases;
    private final RunsAhead ahead = new RunsAhead();
    private @Nullable Subscription subscription;
    private boolean knowsTopic;
    private boolean waitsForPlace;
    private int used;
    private int troubles;
    private long troubledSince;
    private long quietUntil;
    private long gatherUntil;
    private long refusedUntil;
    private @Nullable Long farewellUntil;

    /** @param onEnd called when the loop has ended after a stop */
    ShardConsumer(Shared shared, ShardKey shard, String owner, Runnable onEnd) {
        this.shared = shared;
        this.endpoint = shared.runs().endpoint();
        this.shard = shard;
        this.onEnd = onEnd;
        EngineParts engine = shared.engine();
        this.scope = new ShardScope(
                shard,
                endpoint,
                engine.store(),
                new ShardReports(shard, endpoint, engine.events(), engine.loopEvents(), engine.lines()),
                engine.scheduler()::nanos);
        this.settlements = new Settlements(scope);
        this.intake = new Intake(scope, owner, settlements);
        this.leases = new HeldLeases(scope);
        this.quietUntil = scope.nanos();
        this.gatherUntil = quietUntil;
        this.refusedUntil = quietUntil;
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
        leases.giveUpEnded();
        if (ahead.waitInVain(scope.nanos())) {
            shared.places().waitedInVain();
            ahead.handBack();
            // Before the next claim: it would overtake them.
            hear();
        }
        Long deadline = drainUntil;
        if (deadline != null) {
            drain(deadline);
        }
        if (restUntilTalk(scope.nanos()) <= 0) {
            talk();
        }
        if (deadline != null && isDone()) {
            end();
            return Scheduler.END;
        }
        return rest();
    }

    // ---- What other threads leave

    /** On the thread that settles. The caller wakes the loop, when the place is free as well: one trip serves both. */
    @Override
    public void settled(HeldMessage message) {
        try {
            scope.reports().settled(message, Duration.ofNanos(scope.nanos() - message.began));
        } finally {
            settled.add(message);
        }
    }

    @Override
    public Optional<Bytes> frame(HeldMessage message) {
        return shared.engine().bodies().read(shard, message);
    }

    private void onBell(ShardKey of, Instant due) {
        bell.accumulateAndGet(due, (a, b) -> a == null || (b != null && b.isBefore(a)) ? b : a);
        wake();
    }

    private void hear() {
        for (HeldMessage message = settled.poll(); message != null; message = settled.poll()) {
            leases.remove(message);
            settlements.add(message);
        }
        Instant rung = bell.getAndSet(null);
        if (rung != null) {
            intake.expect(rung);
        }
    }

    // ---- Talking to the store

    private void talk() {
        try {
            greet();
            leases.renew();
            settlements.tellFailedAndHandedBack();
            if (troubles > 0) {
                settlements.tellAcknowledgedOrNothing();
                intake.outageHasEnded(troubledSince);
            }
            if (drainUntil == null) {
                claim();
            } else {
                closeClaim();
            }
            settlements.tellAcknowledged();
            if (drainUntil == null) {
                intake.lookWithoutPlace();
            }
            intake.takeBackLost();
            troubles = 0;
            shared.engine().availability().found(this, shard);
        } catch (RuntimeException e) {
            beQuiet(e);
        }
    }

    private void beQuiet(RuntimeException e) {
        boolean passing = e instanceof StoreUnavailableException;
        long now = scope.nanos();
        if (troubles == 0) {
            troubledSince = now;
        }
        quietUntil = now + (passing ? pause(now) : LONGEST_PAUSE);
        troubles++;
        waitsForPlace = false;
        shared.places().decline(waiter);
        if (troubles > 1 || !passing) {
            shared.engine().availability().lost(this, shard, e);
        }
    }

    private long pause(long now) {
        long pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(troubles, 10));
        long jittered = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2);
        return Math.min(jittered, Math.max(SHORTEST_PAUSE_AT_LEASE_END, leases.restUntilEnd(now) / 4));
    }

    /** What comes first: the topic's shard count, and the bell. */
    private void greet() {
        if (!knowsTopic) {
            shared.shardsKept().accept(shared.engine().topics().shards(shard.topic()));
            knowsTopic = true;
        }
        if (subscription == null) {
            subscription = scope.store().subscribe(List.of(shard), this::onBell);
        }
    }

    // ---- Claiming, and beginning what was claimed

    private void claim() {
        boolean wanted = intake.isDue() || intake.isTimeToLook() || settlements.hasAcknowledged();
        if (!intake.isUnanswered() && !(wanted && mayClaim())) {
            waitsForPlace = false;
            shared.places().decline(waiter);
            return;
        }
        boolean expectsSome = intake.isDue() || intake.isUnanswered();
        Places.Taken taken =
                shared.places().take(waiter, expectsSome ? QueueStore.MAX_BATCH / endpoint.batchSize() : 1);
        waitsForPlace = taken.all() == 0;
        if (waitsForPlace && !intake.isUnanswered()) {
            return;
        }
        boolean withheld = false;
        used = 0;
        try {
            Intake.Answer answer = intake.claim(taken);
            begin(answer, taken);
            withheld = answer.withheld();
        } finally {
            shared.places().giveBack(taken.all() - used);
        }
        if (withheld) {
            waitsForPlace = true;
            shared.places().awaitFree(waiter);
        }
    }

    private boolean mayClaim() {
        return !shared.isPaused().getAsBoolean() && scope.nanos() - refusedUntil >= 0;
    }

    /** Before the end: a claim without an answer may have messages for us, which are to be handed back. */
    private void closeClaim() {
        shared.places().decline(waiter);
        if (intake.isUnanswered()) {
            begin(intake.claim(Places.Taken.NONE), Places.Taken.NONE);
        }
    }

    /** What there is no place for is handed back. */
    private void begin(Intake.Answer claimed, Places.Taken places) {
        List<Delivery> deliveries = claimed.deliveries();
        for (int from = 0; from < deliveries.size(); from += endpoint.batchSize()) {
            int to = Math.min(deliveries.size(), from + endpoint.batchSize());
            List<HeldMessage> batch = new ArrayList<>(to - from);
            for (Delivery delivery : deliveries.subList(from, to)) {
                batch.add(new HeldMessage(endpoint, delivery, claimed.asked() + scope.leaseNanos(), this));
            }
            leases.add(batch, claimed.asked());
            if (used < places.all()) {
                begin(batch, used >= places.free());
            } else {
                batch.forEach(HeldMessage::handBack);
            }
        }
        gatherUntil = scope.nanos() + GATHER;
    }

    private void begin(List<HeldMessage> batch, boolean isAhead) {
        Places places = shared.places();
        boolean suspect = batch.stream().anyMatch(message -> message.delivery.lost() > 0);
        HandlerRun run = new HandlerRun(
                shared.runs(),
                batch,
                message -> intake.lateness(message.delivery),
                nanos -> places.end(nanos, suspect));
        used++;
        if (suspect) {
            places.beginSuspect();
        }
        try {
            shared.workers().execute(run);
            if (isAhead) {
                ahead.add(run, scope.nanos());
            }
        } catch (Throwable e) {
            // Refused, or no thread could be made.
            refusedUntil = scope.nanos() + LONGEST_PAUSE;
            run.abandon();
            shared.engine()
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
        boolean over = scope.nanos() - deadline >= 0;
        for (HeldMessage message : leases.all()) {
            HandlerRun run = message.run();
            if (run != null) {
                run.abandon();
            }
            if (over) {
                message.giveUp();
                interrupt(run);
            }
        }
        hear();
        if (leases.isEmpty() && farewellUntil == null) {
            farewellUntil = scope.nanos() + FAREWELL;
        }
    }

    private static void interrupt(@Nullable HandlerRun run) {
        if (run != null) {
            run.interruptIfLost();
        }
    }

    private boolean isDone() {
        if (!leases.isEmpty()) {
            return false;
        }
        int untold = intake.takenAlong() + settlements.size();
        if (untold == 0 && !intake.isUnanswered()) {
            return true;
        }
        Long until = farewellUntil;
        boolean givesUp = until != null && scope.nanos() - until >= 0;
        if (givesUp) {
            log.warn(
                    "Stopped without an answer of the store: {} messages of {}{} run again after their leases",
                    untold,
                    shard,
                    intake.isUnanswered() ? ", and those that an unanswered claim may have taken," : "");
        }
        return givesUp;
    }

    private void end() {
        shared.places().decline(waiter);
        shared.engine().availability().forget(this);
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
    private long rest() {
        long now = scope.nanos();
        long silence = restUntilTalk(now);
        long rest = silence > 0 ? silence : restWhileTalking(now);
        rest = Math.min(rest, Math.min(leases.restUntilEnd(now), ahead.rest(now)));
        Long end = leases.isEmpty() ? farewellUntil : drainUntil;
        if (end != null) {
            rest = Math.min(rest, end - now);
        }
        return Math.max(0, rest);
    }

    /** For how long the store is not to be called: it is away, or there is something to gather. */
    private long restUntilTalk(long now) {
        boolean gathers = drainUntil == null && !leases.isEmpty();
        return Math.max(quietUntil - now, gathers ? gatherUntil - now : 0);
    }

    private long restWhileTalking(long now) {
        if (settlements.size() > 0) {
            return 0;
        }
        long rest = drainUntil == null ? restUntilLook(now) : ShardScope.NEVER;
        return Math.min(rest, leases.restUntilRenewal(now));
    }

    private long restUntilLook(long now) {
        boolean waitsForTime = !waitsForPlace && mayClaim();
        return waitsForTime ? intake.restUntilDue(now) : intake.restUntilLook(now);
    }
}
