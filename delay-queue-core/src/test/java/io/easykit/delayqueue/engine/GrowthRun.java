package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.NameRules;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Shards are added to a topic, once or twice, while nodes send, cancel and handle messages, all from one seed. Some nodes are
 * replaced, and calls about the shard count may fail. A diary of what was sent and handled shows whether ids and keys stay in
 * one shard, and whether a message is lost, late, or out of turn.
 */
public final class GrowthRun {

    /** What the store reports wrongly. */
    public enum Weakness {
        NONE,
        OWN_IDS_MOVE,
        OPENS_AT_ONCE
    }

    private static final Duration WORK = Duration.ofMinutes(6);

    /** Of a message in a shard with a consumer: a poll, and the end of a consumer. */
    private static final Duration LATENESS = Duration.ofSeconds(3);

    private record Member(SimulatedTime.Node node, DelayQueueEngine engine, ListenerContainer container) {}

    private final Random random;
    private final Weakness weakness;
    private final TestQueue queue = new TestQueue();
    private final QueueBackend store;
    private final List<Member> members = new ArrayList<>();

    /** Due times of the messages that wait. */
    private final Map<String, Instant> live = new HashMap<>();

    /** Of handlers. An exception of theirs would be a failed run. */
    private final List<String> violations = new ArrayList<>();

    private int sent;
    private int all;
    private boolean calm;

    GrowthRun(long seed, Weakness weakness) {
        this(seed, weakness, InMemoryQueueStore::new);
    }

    /** @param stores makes an empty store whose clock is the given one, in microseconds */
    public GrowthRun(long seed, Weakness weakness, Function<LongSupplier, QueueBackend> stores) {
        this.random = new Random(seed);
        this.weakness = weakness;
        this.store = stores.apply(queue.time::micros);
    }

    /** Runs, and throws an assertion error where a promise is broken. */
    public void run() {
        int home = 1 + random.nextInt(3);
        store.declare(TOPIC, home);
        all = home;
        IntStream.range(0, 3).forEach(i -> begin(Topics.UNSET));
        for (int i = 0; i < 240; i++) {
            at(WORK, this::send);
        }
        for (int i = 0; i < 30; i++) {
            at(WORK, this::cancel);
        }
        for (int i = 0; i < 3; i++) {
            at(WORK, () -> replace(Topics.UNSET));
        }
        IntStream.rangeClosed(0, random.nextInt(2)).forEach(i -> at(WORK.dividedBy(3), this::grow));
        for (Duration t = Duration.ZERO; t.compareTo(WORK) < 0; t = t.plusSeconds(5)) {
            queue.time.advance(Duration.ofSeconds(5));
            checkHomes();
            assertThat(violations).isEmpty();
        }
        calm = true;
        queue.time.advance(Duration.ofMinutes(3));
        assertThat(violations).isEmpty();
        assertThat(live).as("never handled").isEmpty();
        assertThat(store.declared(TOPIC)).returns(home, ShardCount::home).returns(all, ShardCount::all);
        assertThat(keys().map(store::stats)).allMatch(stats -> stats.waiting() + stats.inFlight() == 0);
        assertThat(keys().skip(home)
                        .mapToLong(shard -> store.stats(shard).counters().sent())
                        .sum())
                .as("sent to shards that were added")
                .isPositive();
    }

    private Stream<ShardKey> keys() {
        return TopicShards.keys(TOPIC, all).stream();
    }

    private void at(Duration within, Runnable action) {
        queue.time.node().after(Duration.ofMillis(random.nextInt((int) within.toMillis())), action);
    }

    // ---- Processes

    private void begin(int shards) {
        SimulatedTime.Node node = queue.time.node();
        FaultyStore line = new FaultyStore(weakened(store));
        line.plan(method -> calm || !Set.of("declare", "declared", "grow").contains(method) ? Fault.NONE : fault());
        DelayQueueEngine engine = queue.builder(node, line.asStore())
                .shards(topic -> shards)
                .node("node-" + random.nextInt())
                .build();
        ListenerContainer container = engine.container(
                TestQueue.listener().concurrency(4).build(), (DelayMessage<String> message) -> handle(message));
        members.add(new Member(node, engine, container));
        node.after(Duration.ZERO, container::start);
    }

    private Fault fault() {
        return random.nextInt(10) > 0 ? Fault.NONE : random.nextBoolean() ? Fault.LOST_REQUEST : Fault.LOST_REPLY;
    }

    private Member any() {
        return members.get(random.nextInt(members.size()));
    }

    private void replace(int shards) {
        Member leaving = members.remove(random.nextInt(members.size()));
        leaving.node.after(Duration.ZERO, leaving.container::beginStop);
        begin(shards);
    }

    /** By an operator, or by a node that starts with another setting. */
    private void grow() {
        all += 1 + random.nextInt(3);
        if (random.nextBoolean()) {
            replace(all);
        }
        Member operator = any();
        untilAnswered(() -> operator.engine.admin().growShards(TOPIC, all));
        IntStream.range(0, 8).forEach(i -> send(operator, OutgoingMessage.of(TOPIC, "text"), Duration.ZERO));
    }

    private <T> T untilAnswered(Supplier<T> call) {
        while (true) {
            try {
                return call.get();
            } catch (StoreUnavailableException lost) {
                // Once more: each call may be repeated.
            }
        }
    }

    private QueueBackend weakened(QueueBackend whole) {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> {
                    Object reply = method.invoke(whole, arguments);
                    return reply instanceof ShardCount count && count.isGrown() ? weakened(count) : reply;
                });
    }

    private ShardCount weakened(ShardCount count) {
        return switch (weakness) {
            case NONE -> count;
            case OWN_IDS_MOVE -> ShardCount.of(count.all());
            case OPENS_AT_ONCE -> new ShardCount(count.home(), count.all(), Duration.ofHours(1));
        };
    }

    // ---- The application

    private void send() {
        Duration delay = Duration.ofMillis(random.nextInt(90_000));
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "text").after(delay);
        OutgoingMessage chosen =
                switch (random.nextInt(3)) {
                    case 0 -> message.id("m" + random.nextInt(10));
                    case 1 -> message.orderingKey("key" + random.nextInt(3)).id("s" + sent++);
                    default -> message;
                };
        send(any(), chosen, delay);
    }

    private void send(Member sender, OutgoingMessage message, Duration delay) {
        SendResult result = untilAnswered(() -> sender.engine.template().send(message));
        if (live.containsKey(result.id())) {
            assertThat(result.isDuplicate())
                    .as("%s is stored a second time", result.id())
                    .isTrue();
        } else if (!result.isDuplicate()) {
            live.put(result.id(), queue.time.now().plus(delay));
        }
    }

    private DelayQueueTemplate template() {
        return any().engine.template();
    }

    private void cancel() {
        Instant soon = queue.time.now().plusSeconds(1);
        live.entrySet().stream()
                .filter(message -> message.getValue().isAfter(soon))
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .findFirst()
                .ifPresent(id -> {
                    assertThat(untilAnswered(() -> template().find(TOPIC, id)))
                            .as(id)
                            .isPresent();
                    assertThat(untilAnswered(() -> template().cancel(TOPIC, id)))
                            .as("cancel of %s, which waits", id)
                            .isEqualTo(ChangeOutcome.APPLIED);
                    live.remove(id);
                });
    }

    private void handle(DelayMessage<String> message) {
        String id = message.id();
        Instant due = live.remove(id);
        Instant now = queue.time.now();
        if (due == null) {
            violations.add(id + " runs, and is not live");
        } else if (now.isBefore(due) || now.minus(LATENESS).isAfter(due)) {
            violations.add(id + " is due at " + due + " and runs at " + now);
        } else {
            String key = NameRules.orderingKey(id);
            live.forEach((other, dueThen) -> {
                if (key != null && key.equals(NameRules.orderingKey(other)) && dueThen.isBefore(due)) {
                    violations.add(id + " runs before " + other);
                }
            });
        }
    }

    // ---- The guarantees

    private void checkHomes() {
        Map<String, Set<Integer>> shardsOf = new HashMap<>();
        live.keySet().forEach(id -> keys().filter(shard -> store.find(shard, id).isPresent())
                .forEach(shard -> {
                    String key = NameRules.orderingKey(id);
                    shardsOf.computeIfAbsent(key == null ? id : "key " + key, name -> new TreeSet<>())
                            .add(shard.shard());
                }));
        assertThat(shardsOf.values())
                .as("each id and each key is in one shard: %s", shardsOf)
                .allMatch(of -> of.size() == 1);
    }
}
