package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.FlowLimits.Rate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.memory.StoreState;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A few nodes and a sender at work on a topic, all from one seed. Each call may lose its request or its reply, or be the
 * last of its process. Processes stall, are cut off from the store, stop in good order, and are replaced. Handlers succeed,
 * throw, and outlive their leases. In the end the faults cease and one healthy node drains the topic. Then the guarantees of
 * the design are checked against the diary of the handlers and the sender.
 */
public final class EngineFaultRun {

    private static final String TOPIC = "orders";
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration CHAOS = Duration.ofSeconds(30);
    private static final int MAX_ATTEMPTS = 3;
    private static final int MAX_LOST = 4;

    private final SimulatedTime time = new SimulatedTime();
    private final Random random;
    private final FlowLimits limits;
    private final QueueBackend store;
    private final int shards;
    private final double faultRate;

    /** Whether many are due at once and the handlers are quick as a rule, so that messages are claimed ahead. */
    private final boolean bursts;

    private final List<Member> members = new ArrayList<>();

    // The diary.
    private final Map<String, Instant> due = new HashMap<>();
    private final Set<String> stored = new HashSet<>();
    private final Set<String> cancelled = new HashSet<>();
    private final Set<String> maybeCancelled = new HashSet<>();
    private final Set<String> acknowledged = new HashSet<>();
    private final Map<String, Integer> failures = new HashMap<>();
    private final Map<String, Attempt> current = new HashMap<>();
    private final Set<Acknowledgment> settled = new HashSet<>();
    private final List<AssertionError> broken = new ArrayList<>();
    private boolean calm;

    EngineFaultRun(long seed) {
        this(seed, InMemoryQueueStore::new);
    }

    /** @param stores makes an empty store whose clock is the given one, in microseconds */
    public EngineFaultRun(long seed, Function<LongSupplier, QueueBackend> stores) {
        this.random = new Random(seed);
        this.store = stores.apply(time::micros);
        this.shards = 1 + random.nextInt(3);
        this.faultRate = List.of(0.02, 0.1, 0.3).get(random.nextInt(3));
        this.bursts = random.nextInt(3) == 0;
        this.limits = random.nextInt(3) == 0
                ? new FlowLimits(Rate.parse("30/s"), shards + random.nextInt(3))
                : FlowLimits.NONE;
    }

    private record Member(SimulatedTime.Node node, ListenerContainer container, AtomicBoolean isCutOff) {}

    private record Attempt(Member member, Acknowledgment acknowledgment) {}

    /** Runs, and throws an assertion error where a promise is broken. */
    public void run() {
        int messages = 10 + random.nextInt(40);
        for (int i = 0; i < 2; i++) {
            begin();
        }
        for (int i = 0; i < messages; i++) {
            String id = "m" + i;
            at(CHAOS, () -> send(id, someSeconds()));
            if (random.nextInt(5) == 0) {
                at(CHAOS, () -> cancel(id));
            }
        }
        for (int i = 0; bursts && i < 2; i++) {
            String name = "burst" + i + "-";
            Duration delay = someSeconds();
            at(CHAOS, () -> IntStream.range(0, 100).forEach(n -> send(name + n, delay)));
        }
        for (int i = 0; i < 6; i++) {
            at(CHAOS, this::disturb);
        }
        time.advance(CHAOS);
        calm = true;
        members.forEach(member -> member.node.thaw());
        begin();
        time.advanceUntil(Duration.ofMinutes(10), "all work is done", this::isDone);
        if (!broken.isEmpty()) {
            throw broken.get(0);
        }
        checkEnd();
    }

    private void at(Duration within, Runnable action) {
        time.node().after(Duration.ofMillis(random.nextInt((int) within.toMillis())), action);
    }

    // ---- Processes

    private void begin() {
        SimulatedTime.Node node = time.node();
        AtomicBoolean isCutOff = new AtomicBoolean();
        DelayQueueEngine engine = engine(node, isCutOff);
        ListenerEndpoint endpoint = ListenerEndpoint.builder("l", TOPIC, String.class)
                .concurrency(1 + random.nextInt(3))
                .lease(LEASE)
                .maxLeaseExpirations(MAX_LOST)
                .retry(RetryPolicy.fixed(MAX_ATTEMPTS, Duration.ofMillis(500)))
                .ackMode(bursts ? AckMode.AUTO : AckMode.MANUAL)
                .stopTimeout(Duration.ofMillis(random.nextInt(3000)))
                .limits(limits)
                .build();
        Member[] self = new Member[1];
        ListenerContainer container =
                engine.container(endpoint, (DelayMessage<String> message) -> handle(self[0], message));
        self[0] = new Member(node, container, isCutOff);
        members.add(self[0]);
        node.after(Duration.ZERO, container::start);
    }

    private DelayQueueEngine engine(SimulatedTime.Node node, AtomicBoolean isCutOff) {
        FaultyStore line = new FaultyStore(store);
        line.plan(method -> calm ? Fault.NONE : isCutOff.get() ? Fault.LOST_REQUEST : fault());
        DelayQueueEngine.Builder builder = DelayQueueEngine.builder(line.asStore())
                .codec(new TestQueue.TextCodec())
                .shards(topic -> shards)
                .loops(node)
                .workers(node.workers(Duration.ofMillis(random.nextInt(3))))
                .node("node-" + members.size());
        if (bursts) {
            builder.pools(endpoint -> node.pool(endpoint.concurrency(), () -> Duration.ofMillis(slowness())));
        }
        return builder.build();
    }

    private int slowness() {
        return random.nextInt(50) == 0 ? random.nextInt(3000) : 0;
    }

    private Fault fault() {
        if (random.nextDouble() >= faultRate) {
            return Fault.NONE;
        }
        return switch (random.nextInt(20)) {
            case 0 -> Fault.KILLED_BEFORE;
            case 1 -> Fault.KILLED_AFTER;
            default -> random.nextBoolean() ? Fault.LOST_REQUEST : Fault.LOST_REPLY;
        };
    }

    private void disturb() {
        Member victim = members.get(random.nextInt(members.size()));
        switch (random.nextInt(4)) {
            case 0 -> victim.node.kill();
            case 1 -> {
                victim.node.freeze();
                time.node().after(Duration.ofMillis(random.nextInt(8000)), victim.node::thaw);
            }
            case 2 -> victim.node.after(Duration.ZERO, victim.container::beginStop);
            default -> {
                victim.isCutOff.set(true);
                time.node().after(Duration.ofMillis(random.nextInt(8000)), () -> victim.isCutOff.set(false));
            }
        }
        begin();
    }

    // ---- The application

    private DelayQueueEngine sender() {
        return engine(time.node(), new AtomicBoolean());
    }

    private Duration someSeconds() {
        return Duration.ofMillis(random.nextInt(5000));
    }

    private void send(String id, Duration delay) {
        due.put(id, time.now().plus(delay));
        try {
            sender().template().send(OutgoingMessage.of(TOPIC, "text").id(id).after(delay));
            stored.add(id);
        } catch (StoreUnavailableException e) {
            // Whether it was stored is unknown here, and is checked in the end.
        } catch (SimulatedTime.Killed e) {
            // Unknown here as well: the sender has died.
        }
    }

    private void cancel(String id) {
        try {
            maybeCancelled.add(id);
            if (sender().template().cancel(TOPIC, id) == ChangeOutcome.APPLIED) {
                cancelled.add(id);
            }
        } catch (StoreUnavailableException | SimulatedTime.Killed e) {
            // As above.
        }
    }

    private void handle(Member member, DelayMessage<String> message) {
        String id = message.id();
        check(() -> assertThat(time.now()).as("%s starts early", id).isAfterOrEqualTo(due.get(id)));
        check(() -> assertThat(cancelled).as("runs after it was cancelled").doesNotContain(id));
        Attempt before = current.put(id, new Attempt(member, message.acknowledgment()));
        if (before != null && before.member.node.isAlive()) {
            // The one before has lost the message, or notices at this very moment, or when it wakes up.
            time.node().after(Duration.ofMillis(1), () -> checkGone(id, before));
        }
        int plan = random.nextInt(10);
        if (plan == 0) {
            throw failure(message);
        }
        Duration runtime = Duration.ofMillis(random.nextInt(plan == 1 ? 6000 : 300));
        if (bursts) {
            settle(plan, message);
        } else {
            member.node.after(runtime, () -> settle(plan, message));
        }
    }

    /** The container would take an error of the handler for a failed run. */
    private void check(Runnable promise) {
        try {
            promise.run();
        } catch (AssertionError e) {
            broken.add(e);
        }
    }

    private void checkGone(String id, Attempt before) {
        boolean stalled = before.member.node.isStalled() || !before.member.node.isAlive();
        assertThat(stalled || before.acknowledgment.isLost() || settled.contains(before.acknowledgment))
                .as("%s belongs to two at a time", id)
                .isTrue();
    }

    private void settle(int plan, DelayMessage<String> message) {
        settled.add(message.acknowledgment());
        switch (plan) {
            case 2 -> message.acknowledgment().fail(failure(message));
            case 3 -> {
                failure(message);
                message.acknowledgment().reject(new IllegalStateException("never"));
            }
            default -> {
                acknowledged.add(message.id());
                message.acknowledgment().acknowledge();
            }
        }
    }

    private IllegalStateException failure(DelayMessage<String> message) {
        settled.add(message.acknowledgment());
        failures.merge(message.id(), 1, Integer::sum);
        return new IllegalStateException("attempt " + message.attempt());
    }

    // ---- The guarantees

    private Stream<ShardKey> keys() {
        return TopicShards.keys(TOPIC, shards).stream();
    }

    private boolean isDone() {
        return keys().map(store::stats).allMatch(stats -> stats.waiting() == 0 && stats.inFlight() == 0);
    }

    private void checkEnd() {
        // Lets calls of the last node end that are under way, such as an acknowledgement of a message that is gone.
        time.advance(Duration.ofSeconds(5));
        long acknowledgements = 0;
        long sent = 0;
        long gone = 0;
        Set<String> dead = new HashSet<>();
        for (ShardKey shard : keys().toList()) {
            ShardStats stats = store.stats(shard);
            assertThat(stats.imbalance()).as("the ledger of %s", shard).isZero();
            acknowledgements += stats.counters().acknowledged();
            sent += stats.counters().sent();
            gone += stats.counters().cancelled();
            List<StoredMessage> letters =
                    store.browse(shard, new Browse(State.DEAD, false, null, 100, 512)).entries().stream()
                            .map(entry -> store.find(shard, entry.id()).orElseThrow())
                            .toList();
            letters.forEach(this::checkDead);
            letters.forEach(message -> dead.add(message.id()));
            checkNothingIsLeft(shard);
        }
        assertThat(sent).isEqualTo(acknowledgements + gone + dead.size());
        Set<String> handled = new HashSet<>(acknowledged);
        handled.addAll(dead);
        handled.addAll(maybeCancelled);
        assertThat(acknowledgements)
                .as("nothing is acknowledged that no handler has")
                .isLessThanOrEqualTo(acknowledged.size());
        assertThat(dead).as("dead, although cancelled").noneMatch(cancelled::contains);
        assertThat(handled).as("what was stored and did not end by itself").containsAll(stored);
        assertThat(gone).isGreaterThanOrEqualTo(cancelled.size());
        assertThat(sent).as("nothing is gone that nobody ended").isLessThanOrEqualTo(handled.size());
    }

    private void checkDead(StoredMessage message) {
        assertThat(message.frame()).isNotNull();
        MessageInfo.ErrorNote reason = Objects.requireNonNull(message.lastError(), "nobody knows why it is dead");
        StoredMessage.History history = Objects.requireNonNull(message.history(), "it was never claimed");
        assertThat(history.failures()).isLessThanOrEqualTo(MAX_ATTEMPTS);
        assertThat(history.failures()).isLessThanOrEqualTo(failures.getOrDefault(message.id(), 0));
        assertThat(history.leaseExpirations()).isLessThanOrEqualTo(MAX_LOST);
        boolean lostTooOften = reason.text().equals(MessageInfo.ErrorNote.LEASE_LOST);
        assertThat(lostTooOften).isEqualTo(history.leaseExpirations() == MAX_LOST);
    }

    private void checkNothingIsLeft(ShardKey shard) {
        if (store instanceof InMemoryQueueStore memory && memory.stats(shard).dead() == 0) {
            assertThat(StoreState.keyspace(memory, shard).keySet())
                    .allMatch(key -> key.matches("settings|count:.*|flow|claim:.*"));
        }
    }
}
