package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.at;
import static io.easykit.delayqueue.redis.TestShard.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.redis.SpringCalls;
import io.easykit.test.RawRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A shard with messages in every place, in which one command of one script can be made to fail: the n-th that it executes, or
 * all from the n-th on. The consequence in Redis is real: the script ends there, and its earlier writes stay.
 */
final class FaultyShard implements AutoCloseable {

    static final Duration LEASE = Duration.ofSeconds(30);

    /** What a refused call returns. */
    static final Object REFUSED = "refused";

    private static final String FAULT = "test:fault";
    private static final String PREFIX = "dq:{t:0}:";
    private static final List<String> PLACES = List.of("waiting", "inflight", "dead");

    /** In front of each script: its commands count down to the fault. */
    private static final String STRIKE =
            """
            local fault_key = '%s'
            local fault = redis.call('HMGET', fault_key, 'at', 'lasts')
            local fault_at, fault_lasts, executed = tonumber(fault[1] or '-1'), fault[2] == '1', 0
            local function strikes()
              executed = executed + 1
              local hit = executed == fault_at or fault_lasts and fault_at > 0 and executed > fault_at
              if hit then redis.call('HSET', fault_key, 'struck', '1') end
              return hit
            end
            local function faulty_call(...)
              if strikes() then error('ERR injected fault', 0) end
              return redis.call(...)
            end
            local function faulty_pcall(...)
              if strikes() then return {err = 'ERR injected fault'} end
              return redis.pcall(...)
            end
            """
                    .formatted(FAULT);

    private final TestShard shard;
    private final UnaryOperator<String> edit;
    private final ShardScripts scripts;
    private final Map<QueueScript, String> shas = new EnumMap<>(QueueScript.class);
    final QueueBackend store;
    final Map<String, Lease> leases = new HashMap<>();
    private long clock;

    FaultyShard(UnaryOperator<String> edit) {
        this(new TestShard(faulty(edit)), faulty(edit));
    }

    /** Scripts as they ship; what fails is up to the server. */
    FaultyShard() {
        this(new TestShard(), TestShard::withTestClock);
    }

    private FaultyShard(TestShard shard, UnaryOperator<String> edit) {
        this.shard = shard;
        scripts = new ShardScripts(
                new SpringCalls(TestShard.SHARED), null, new RedisKeys("dq:"), new SlotRetry(Duration.ZERO), edit);
        this.edit = edit;
        store = shard.store;
        empty();
    }

    /** Removes all keys and sets the clock back, for the next of several runs: reading all scripts again takes longer. */
    void empty() {
        shard.empty();
        leases.clear();
        clock(100_000);
    }

    private static UnaryOperator<String> faulty(UnaryOperator<String> edit) {
        return script -> withFaults(TestShard.withTestClock(edit.apply(script)));
    }

    private static String withFaults(String script) {
        return STRIKE
                + script.replaceAll("redis\\.call\\((?!'LRANGE', 'test:clock')", "faulty_call(")
                        .replace("redis.pcall", "faulty_pcall");
    }

    /** Messages in each place, with and without a history: w waiting, f in flight, e expired, d dead. */
    void populate() {
        send("e1", "e2", "d1", "d2", "w3");
        take("x", 1, Duration.ofMillis(500));
        store.fail(
                KEY,
                List.of(
                        new Failure(lease("d1"), null, "no"),
                        new Failure(lease("d2"), null, "no"),
                        new Failure(lease("w3"), Duration.ofMillis(700), "again")));
        clock(101_000);
        send("f1", "f2", "f3");
        take("o", 1, LEASE, "w3");
        send("w1", "w2");
        store.send(KEY, List.of(at("w4", clock + 600_000, "w4-body")));
    }

    private void take(String owner, long request, Duration lease, String... alsoReleased) {
        for (Delivery delivery :
                store.claim(KEY, claim(owner, request, 10, lease.toMillis())).deliveries()) {
            leases.put(delivery.id(), delivery.lease());
        }
        store.release(KEY, Stream.of(alsoReleased).map(this::lease).toList());
    }

    private void send(String... ids) {
        store.send(KEY, messages(ids));
    }

    List<NewMessage> messages(String... ids) {
        return Stream.of(ids).map(id -> at(id, clock, id + "-body")).toList();
    }

    Lease lease(String id) {
        Lease lease = leases.get(id);
        assertThat(lease).as("lease of " + id).isNotNull();
        return lease;
    }

    List<Lease> leases(String... ids) {
        return Stream.of(ids).map(this::lease).toList();
    }

    void clock(long millis) {
        clock = millis;
        shard.clock(millis);
    }

    /** Makes the next script fail at this command, and at all after it if that lasts. */
    void failAt(int command, boolean lasts) {
        shard.redis().command("HSET", FAULT, "at", String.valueOf(command), "lasts", lasts ? "1" : "0", "struck", "0");
    }

    /** Ends the fault; returns whether it met a command. */
    boolean heal() {
        byte[] struck = (byte[]) shard.redis().command("HGET", FAULT, "struck");
        shard.redis().command("DEL", FAULT);
        return struck != null && RawRedis.text(struck).equals("1");
    }

    /** Returns {@link #REFUSED} if the call was refused. */
    Object attempt(Function<QueueBackend, Object> call) {
        try {
            return call.apply(store);
        } catch (StoreRefusedException e) {
            assertThat(e).hasMessageContaining("injected fault");
            return REFUSED;
        }
    }

    /** Runs a script that the store runs by itself, when another one is refused. */
    List<?> diagnose() {
        return scripts.list(QueueScript.DIAGNOSE, KEY, new Arguments());
    }

    /** The scripts that were called since the last flush of all scripts. */
    Set<QueueScript> scriptsThatRan() {
        Set<QueueScript> ran = EnumSet.noneOf(QueueScript.class);
        for (QueueScript script : QueueScript.values()) {
            String sha = shas.computeIfAbsent(script, name -> name.load(edit).sha());
            if (List.of(1L).equals(shard.redis().command("SCRIPT", "EXISTS", sha))) {
                ran.add(script);
            }
        }
        return ran;
    }

    RawRedis redis() {
        return shard.redis();
    }

    /** The whole keyspace, see {@link TestShard#state}. */
    String state() {
        return shard.state();
    }

    /** Places by id; of each id with a place or a body. */
    SortedMap<String, List<String>> whereabouts() {
        return whereabouts(shard.redis().snapshot());
    }

    /** The same of a keyspace. */
    static SortedMap<String, List<String>> whereabouts(SortedMap<String, RawRedis.Stored> keyspace) {
        SortedMap<String, List<String>> found = new TreeMap<>();
        keyspace.keySet().stream()
                .filter(key -> key.startsWith(PREFIX + "m:"))
                .forEach(key -> found.put(key.substring(PREFIX.length() + 2), new ArrayList<>()));
        for (String place : PLACES) {
            RawRedis.Stored stored = keyspace.get(PREFIX + place);
            if (stored != null) {
                ((Map<?, ?>) stored.content()).keySet().forEach(id -> found.computeIfAbsent(
                                (String) id, i -> new ArrayList<>())
                        .add(place));
            }
        }
        return found;
    }

    boolean hasBody(String id) {
        return Long.valueOf(1).equals(shard.redis().command("EXISTS", body(id)));
    }

    private static String body(String id) {
        return PREFIX + "m:" + id;
    }

    /** Each of these is in a place, with its body. */
    void assertInPlace(Collection<String> ids) {
        SortedMap<String, RawRedis.Stored> keyspace = shard.redis().snapshot();
        SortedMap<String, List<String>> found = whereabouts(keyspace);
        assertThat(ids)
                .as("messages in a place, of " + found)
                .allSatisfy(id -> assertThat(found.get(id)).as(id).isNotEmpty());
        assertThat(ids)
                .allSatisfy(id -> assertThat(keyspace).as("body of " + id).containsKey(body(id)));
    }

    /** Each of these is in a place with its body, or wholly gone. */
    void assertWholeOrGone(Collection<String> ids) {
        SortedMap<String, RawRedis.Stored> keyspace = shard.redis().snapshot();
        whereabouts(keyspace).forEach((id, places) -> {
            if (ids.contains(id)) {
                assertThat(keyspace).as("body of " + id + " in " + places).containsKey(body(id));
                assertThat(places).as("places of " + id).isNotEmpty();
            }
        });
    }

    /** Runs the sweep from its first to its last page. */
    List<Repaired> repair() {
        List<Repaired> all = new ArrayList<>();
        for (String position = Repaired.BEGIN;
                !position.isEmpty();
                position = all.get(all.size() - 1).next()) {
            all.add(store.repair(KEY, position));
        }
        return all;
    }

    /** Runs all work to its end, in four rounds at most; returns how often each id was delivered. */
    Map<String, Integer> drain() {
        Map<String, Integer> delivered = new LinkedHashMap<>();
        for (int round = 1; round <= 4 && !left().isEmpty(); round++) {
            clock(clock + 700_000);
            store.reap(KEY, 100, 50, Duration.ZERO);
            List<Delivery> deliveries =
                    store.claim(KEY, claim("drain", round, 100, 50_000)).deliveries();
            deliveries.forEach(delivery -> delivered.merge(delivery.id(), 1, Integer::sum));
            store.acknowledge(KEY, deliveries.stream().map(Delivery::lease).toList());
            store.redrive(
                    KEY,
                    store.browse(KEY, new Browse(State.DEAD, false, null, 100, 512)).entries().stream()
                            .map(dead -> new DeadLetterRef(dead.id(), dead.at()))
                            .toList());
        }
        return delivered;
    }

    /** Keys of messages. */
    List<String> left() {
        List<?> keys = (List<?>) Objects.requireNonNull(shard.redis().command("KEYS", "*"));
        return keys.stream()
                .map(key -> RawRedis.text((byte[]) key))
                .filter(
                        key -> !key.matches(
                                ".*:(count:.*|settings|samples|health|flow|claim:.*|alert:.*)|.*\\{(nodes|console)}:.*|test:.*"))
                .toList();
    }

    @Override
    public void close() {
        shard.close();
    }
}
