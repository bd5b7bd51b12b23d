package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.StoppedKeys;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.NameRules;
import io.easykit.test.RawRedis;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Lets each script fail at each command that it executes, with messages of ordering keys in every state: no key is ever held by
 * two messages in flight, and after the sweep no key is stuck, whether the call is repeated or not.
 */
class OrderingFaultTests {

    private static final Set<String> ALL = Stream.of(
                    "run:a", "run:b", "run:c", "retry:a", "retry:b", "dead:a", "dead:b", "dead:c", "lost:a", "lost:b",
                    "free:a", "free:b", "later:a", "later:b")
            .map(OrderingFaultTests::id)
            .collect(Collectors.toCollection(TreeSet::new));

    private static final long PARKED = 1L << 52;

    private static FaultyShard shard;

    @BeforeAll
    static void open() {
        shard = new FaultyShard(UnaryOperator.identity());
    }

    @AfterAll
    static void close() {
        shard.close();
    }

    /** @param ended ids that the move may end */
    record Step(String name, Set<String> ended, BiFunction<FaultyShard, QueueBackend, Object> call) {

        Step(String name, BiFunction<FaultyShard, QueueBackend, Object> call) {
            this(name, Set.of(), call);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static String id(String keyAndName) {
        int colon = keyAndName.indexOf(':');
        return NameRules.orderedId(keyAndName.substring(0, colon), keyAndName.substring(colon + 1));
    }

    private static String[] ids(String... names) {
        return Stream.of(names).map(OrderingFaultTests::id).toArray(String[]::new);
    }

    /**
     * Keys by name: one message runs, waits for its retry, is dead, or has lost its lease, and the others of the key are parked;
     * nobody holds the keys free and later.
     */
    private static void populate() {
        shard.empty();
        send(100_000, "retry:a", "dead:a", "lost:a", "run:a");
        claim("x", 1, Duration.ofMillis(500));
        shard.store.fail(
                KEY,
                List.of(
                        new Failure(shard.lease(id("retry:a")), Duration.ofMinutes(5), "again"),
                        new Failure(shard.lease(id("dead:a")), null, "no")));
        shard.store.extend(KEY, shard.leases(ids("run:a")), FaultyShard.LEASE);
        send(100_100, "retry:b", "dead:b", "dead:c", "lost:b", "run:b", "run:c");
        shard.clock(101_000);
        claim("y", 1, FaultyShard.LEASE);
        send(100_900, "free:a", "free:b");
        send(160_000, "later:a", "later:b");
        assertThat(shard.store.stats(KEY).parked()).isEqualTo(6);
    }

    private static void send(long due, String... names) {
        shard.store.send(
                KEY,
                Stream.of(names)
                        .map(name -> TestShard.at(id(name), due, name + "-body"))
                        .toList());
    }

    private static List<Delivery> claim(String owner, long request, Duration lease, Lease... acknowledged) {
        List<Delivery> deliveries = shard.store
                .claim(KEY, new Claim(owner, request, 10, 10, lease, List.of(acknowledged)))
                .deliveries();
        deliveries.forEach(delivery -> shard.leases.put(delivery.id(), delivery.lease()));
        return deliveries;
    }

    private static Target target(String name) {
        return new Target(id(name), null);
    }

    private static Reschedule move(String name) {
        return new Reschedule(target(name), DueTime.after(Duration.ofSeconds(50)));
    }

    private static List<DeadLetterRef> death() {
        return List.of(new DeadLetterRef(id("dead:a"), TestShard.ms(100_000)));
    }

    private static Failure failure(DeadKeyPolicy policy, Duration retry) {
        return new Failure(shard.lease(id("run:a")), retry, "no", policy);
    }

    static List<Step> steps() {
        Set<String> run = Set.of(id("run:a"));
        return List.of(
                new Step("claim", (s, store) -> store.claim(KEY, request())),
                new Step("claim, acknowledge", run, (s, store) -> store.claim(KEY, request(s.lease(id("run:a"))))),
                new Step("acknowledge", run, (s, store) -> store.acknowledge(KEY, s.leases(ids("run:a")))),
                new Step(
                        "retry",
                        (s, store) -> store.fail(KEY, List.of(failure(DeadKeyPolicy.STOP, Duration.ofSeconds(9))))),
                new Step("fail, stop", (s, store) -> store.fail(KEY, List.of(failure(DeadKeyPolicy.STOP, null)))),
                new Step("fail, skip", (s, store) -> store.fail(KEY, List.of(failure(DeadKeyPolicy.SKIP, null)))),
                new Step("release", (s, store) -> store.release(KEY, s.leases(ids("run:a")))),
                new Step("extend", (s, store) -> store.extend(KEY, s.leases(ids("run:a")), Duration.ofMinutes(1))),
                new Step("reap", (s, store) -> store.reap(KEY, 100, 3, Duration.ZERO)),
                new Step("reap, stop", (s, store) -> store.reap(KEY, 100, 1, Duration.ZERO)),
                new Step(
                        "reap, skip",
                        (s, store) -> store.reap(KEY, 100, 1, Duration.ZERO, DeadKeyPolicy.SKIP, QueueStore.ANY_END)),
                new Step(
                        "cancel a holder",
                        Set.of(id("retry:a")),
                        (s, store) -> store.cancel(KEY, List.of(target("retry:a")))),
                new Step(
                        "cancel parked ones",
                        Set.of(ids("run:b", "dead:b", "dead:c")),
                        (s, store) -> store.cancel(KEY, List.of(target("run:b"), target("dead:b"), target("dead:c")))),
                new Step(
                        "cancel the first",
                        Set.of(id("free:a")),
                        (s, store) -> store.cancel(KEY, List.of(target("free:a")))),
                new Step(
                        "reschedule",
                        (s, store) -> store.reschedule(
                                KEY, List.of(move("retry:a"), move("run:b"), move("free:a"), move("dead:c")))),
                new Step("redrive", (s, store) -> store.redrive(KEY, death())),
                new Step(
                        "replace",
                        (s, store) -> store.replace(KEY, death().get(0), Bytes.NONE, TestShard.frame("other"))),
                new Step("purge", Set.of(id("dead:a")), (s, store) -> store.purge(KEY, death())),
                new Step("free key", (s, store) -> store.freeKey(KEY, "dead", id("dead:a"))),
                new Step("repair", (s, store) -> store.repair(KEY, "held:0")),
                new Step("repair parked", (s, store) -> store.repair(KEY, "parked:0")),
                new Step("stopped keys", (s, store) -> store.stoppedKeys(KEY, StoppedKeys.BEGIN)),
                new Step("stats", (s, store) -> store.stats(KEY)));
    }

    private static Claim request(Lease... acknowledged) {
        return new Claim("p", 1, 10, 10, FaultyShard.LEASE, List.of(acknowledged));
    }

    @ParameterizedTest
    @MethodSource("steps")
    void noKeyIsStuckWhereverTheScriptFails(Step step) {
        for (boolean isRepeated : new boolean[] {true, false}) {
            boolean struck = true;
            for (int command = 1; struck; command++) {
                try {
                    populate();
                    shard.failAt(command, false);
                    shard.attempt(store -> step.call().apply(shard, store));
                    struck = shard.heal();
                    check(step, isRepeated);
                } catch (AssertionError e) {
                    throw new AssertionError(
                            step + " that failed at command " + command + ", repeated: " + isRepeated, e);
                }
            }
        }
    }

    /** Without the sweep: a key whose holder has ended has a message that waits before all that are parked. */
    private static void noneIsParkedBehindNobody() {
        SortedMap<String, RawRedis.Stored> keyspace = shard.redis().snapshot();
        Map<String, String> waiting = content(keyspace, "waiting");
        Map<String, String> held = content(keyspace, "held");
        Set<String> live = FaultyShard.whereabouts(keyspace).entrySet().stream()
                .filter(message -> !message.getValue().isEmpty())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        Map<String, List<String>> byKey = waiting.keySet().stream()
                .collect(Collectors.groupingBy(id -> String.valueOf(NameRules.orderingKey(id))));
        byKey.forEach((key, ids) -> {
            if (!live.contains(held.getOrDefault(key, ""))) {
                String first = ids.stream()
                        .min(Comparator.comparingLong((String id) -> score(waiting, id) % PARKED)
                                .thenComparing(id -> id))
                        .orElseThrow();
                assertThat(score(waiting, first))
                        .as("first of the free key " + key)
                        .isLessThan(PARKED);
            }
        });
    }

    private static long score(Map<String, String> waiting, String id) {
        return new BigDecimal(Objects.requireNonNull(waiting.get(id))).longValueExact();
    }

    private static Map<String, String> content(SortedMap<String, RawRedis.Stored> keyspace, String key) {
        RawRedis.Stored stored = keyspace.get("dq:{t:0}:" + key);
        Map<String, String> content = new TreeMap<>();
        if (stored != null) {
            ((Map<?, ?>) stored.content()).forEach((name, value) -> content.put((String) name, String.valueOf(value)));
        }
        return content;
    }

    private static void check(Step step, boolean isRepeated) {
        noneIsParkedBehindNobody();
        if (!step.name().endsWith("skip")) { // a message whose run has ended may be in flight and dead
            oneOfEachKeyIsInFlight();
            claim("thief", 1, Duration.ofSeconds(40));
            oneOfEachKeyIsInFlight();
        }
        if (isRepeated) {
            shard.attempt(store -> step.call().apply(shard, store));
        }
        shard.repair();
        Set<String> owed = new TreeSet<>(ALL);
        owed.removeAll(step.ended());
        Set<String> delivered = drain();
        assertThat(delivered).containsAll(owed);
        shard.repair();
        assertThat(shard.left()).as("keys that are left").isEmpty();
        assertThat(shard.store.stats(KEY).imbalance()).as("ledger").isZero();
    }

    private static void oneOfEachKeyIsInFlight() {
        Map<String, Long> inFlight =
                shard.store.browse(KEY, new Browse(State.IN_FLIGHT, false, null, 100, 0)).entries().stream()
                        .collect(Collectors.groupingBy(
                                entry -> String.valueOf(NameRules.orderingKey(entry.id())), Collectors.counting()));
        assertThat(inFlight.values()).as("in flight " + inFlight).allMatch(count -> count == 1);
    }

    /** Runs all work to its end: those that the step has left in flight too, when their leases have expired. */
    private static Set<String> drain() {
        Set<String> delivered = new TreeSet<>();
        for (int round = 1; round <= 8 && !shard.left().isEmpty(); round++) {
            shard.clock(101_000 + round * 700_000L);
            shard.store.reap(KEY, 100, 50, Duration.ZERO);
            List<Delivery> deliveries = claim("drain", round, Duration.ofSeconds(50));
            deliveries.forEach(delivery -> delivered.add(delivery.id()));
            shard.store.acknowledge(
                    KEY, deliveries.stream().map(Delivery::lease).toList());
            List<Browsed.Entry> dead = shard.store
                    .browse(KEY, new Browse(State.DEAD, false, null, 100, 0))
                    .entries();
            shard.store.redrive(
                    KEY,
                    dead.stream()
                            .map(entry -> new DeadLetterRef(entry.id(), entry.at()))
                            .toList());
            if (round == 4) {
                shard.repair(); // of a holder that ended without its key being freed
            }
        }
        return delivered;
    }
}
