package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.store.OutboxException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Several nodes on a cluster of three masters, of which each reaches some. The id of a key decides its master. One of the nodes
 * reads the outbox.
 */
class OutboxReaderTests {

    private static final CacheSpec<String> AP = Workbench.ap();
    private static final CacheKey<String> HEALTHY = AP.key(0);
    private static final CacheKey<String> LOST = AP.key(1);
    private static final Duration STEP = Duration.ofMillis(100);

    private final Workbench bench = new Workbench();
    private final InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
    private final List<Node> nodes = new ArrayList<>();
    private String data = "old";

    /** Nodes that take the lease from one another would go on for ever. */
    private long slowUntil;

    /** Messages or keys of the slow calls. */
    private final List<Integer> sizes = new ArrayList<>();

    OutboxReaderTests() {
        bench.store.inParts(3);
    }

    enum Rows {
        AN_ENTRY {
            @Override
            List<CacheKey<?>> keys() {
                return List.of(LOST);
            }
        },
        MANY_ENTRIES {
            @Override
            List<CacheKey<?>> keys() {
                return Stream.iterate(1, id -> id + 3)
                        .limit(3 * OutboxDelivery.MESSAGES)
                        .<CacheKey<?>>map(AP::key)
                        .toList();
            }
        },
        A_CLEARING {
            @Override
            List<CacheKey<?>> keys() {
                return List.of(AP.all());
            }
        };

        abstract List<CacheKey<?>> keys();
    }

    @ParameterizedTest
    @EnumSource(Rows.class)
    void aNodeThatReachesAllMastersTakesOverFromAReaderThatLacksOne(Rows rows) {
        Node reader = start();
        Node other = start();
        assertThat(read(other, LOST)).isEqualTo("old");
        reader.lose(1);
        pass(Duration.ofSeconds(5));

        update(rows.keys());
        pass(Duration.ofSeconds(1));

        assertThat(read(other, LOST)).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Rows.class)
    void theOldValueIsGoneTwoAndAHalfSecondsAfterTheReaderHasMarkedTheMaster(Rows rows) {
        Node reader = start();
        Node other = start();
        assertThat(read(other, LOST)).isEqualTo("old");
        reader.lose(1);
        while (reader.engine.availability(CacheSpec.DEFAULT_CLUSTER).state() == State.AVAILABLE) {
            pass(STEP);
        }
        update(rows.keys());
        pass(Outbox.MAX_DELAY);

        assertThat(read(other, LOST)).isEqualTo("new");
    }

    /** Another node would take the lease meanwhile, and deliver again what was delivered. */
    @ParameterizedTest
    @ValueSource(strings = {"prepare", "invalidateNow"})
    void theLeaseStaysWithItsReaderInABatchThatTakesLonger(String slow) {
        int before = deliverSlowly(slow);

        assertThat(outbox.redeliveries() - before).isZero();
    }

    /** In one call to the database the lease is not renewed. */
    @Test
    void aBatchThatTakesLongMakesTheNextOnesSmaller() {
        int unused = deliverSlowly("delivered");

        assertThat(sizes).filteredOn(size -> size == OutboxDelivery.MESSAGES).hasSizeLessThanOrEqualTo(nodes.size());
    }

    /** Returns the number of redeliveries before. */
    private int deliverSlowly(String method) {
        Node first = start();
        Node second = start();
        int before = outbox.redeliveries();
        update(IntStream.range(0, 6 * OutboxDelivery.MESSAGES)
                .<CacheKey<?>>mapToObj(AP::key)
                .toList());
        slowUntil = bench.clock.nanoTime() + Duration.ofMinutes(10).toNanos();
        first.slow = method;
        second.slow = method;
        pass(Duration.ofMinutes(2));
        assertThat(outbox.waiting()).isZero();
        return before;
    }

    /** Each take-over delivers again what was delivered in the last 30 s, and drops what was loaded since. */
    @Test
    void nodesThatAllLackAMasterLeaveTheOutboxToOneOfThem() {
        Node node = start();
        Node unused = start();
        bench.store.away(1);
        pass(Duration.ofSeconds(10));
        update(List.of(AP.all()));
        pass(Duration.ofSeconds(5));
        int raised = bench.store.count(Operation.RAISE_EPOCH);

        pass(Duration.ofSeconds(60));

        assertThat(outbox.waiting()).isPositive();
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(raised);
        assertThat(node.engine.availability(CacheSpec.DEFAULT_CLUSTER).state()).isEqualTo(State.UNAVAILABLE);
    }

    @Test
    void theFirstNodeThatReachesTheMasterAgainTakesOver() {
        Node reader = start();
        Node other = start();
        assertThat(read(other, LOST)).isEqualTo("old");
        reader.lose(1);
        other.lose(1);
        pass(Duration.ofSeconds(10));
        update(List.of(AP.all()));
        pass(Duration.ofSeconds(5));
        assertThat(outbox.waiting()).isPositive();

        other.lost.clear();
        pass(Duration.ofSeconds(15));

        assertThat(other.engine.availability(CacheSpec.DEFAULT_CLUSTER).state()).isEqualTo(State.AVAILABLE);
        assertThat(outbox.waiting()).isZero();
        assertThat(read(other, LOST)).isEqualTo("new");
    }

    /** Each takeover delivers again what was delivered before, and drops what was loaded since. */
    @Test
    void theLeaseStaysWithItsReaderWhileBothLoseAMasterAgainAndAgain() {
        Node reader = start();
        Node other = start();
        pass(Duration.ofSeconds(8));
        int before = outbox.redeliveries();

        for (int i = 0; i < 20; i++) {
            Node lost = i % 2 == 0 ? reader : other;
            lost.lose(1);
            pass(Duration.ofSeconds(4));
            lost.lost.clear();
        }

        assertThat(outbox.redeliveries() - before)
                .as("takeovers, and once more after each")
                .isLessThanOrEqualTo(2);
    }

    @Test
    void aNodeThatLacksAMasterReadsTheOutboxWhenTheReaderDies() {
        Node reader = start();
        Node other = start();
        assertThat(read(other, HEALTHY)).isEqualTo("old");
        other.lose(1);
        pass(Duration.ofSeconds(5));
        update(List.of(HEALTHY));
        nodes.remove(reader);

        pass(Outbox.MAX_DELAY);

        assertThat(read(other, HEALTHY)).isEqualTo("new");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aReaderThatLosesTheDatabaseLeavesTheOutboxToANodeThatReachesIt(int lostMastersOfTheOther) {
        Node reader = start();
        Node other = start();
        assertThat(read(other, HEALTHY)).isEqualTo("old");
        IntStream.range(1, 1 + lostMastersOfTheOther).forEach(other::lose);
        pass(Duration.ofSeconds(5));
        reader.databaseAway = true;
        update(List.of(HEALTHY));

        pass(Outbox.MAX_DELAY.plus(OutboxRelay.INTERVAL.multipliedBy(lostMastersOfTheOther)));

        assertThat(read(other, HEALTHY)).isEqualTo("new");
    }

    @Test
    void aNodeReadsTheOutboxWhenItReachesTheDatabaseAgain() {
        Node reader = start();
        assertThat(read(reader, HEALTHY)).isEqualTo("old");
        reader.databaseAway = true;
        update(List.of(HEALTHY));
        pass(Duration.ofSeconds(10));
        assertThat(read(reader, HEALTHY)).isEqualTo("old");

        reader.databaseAway = false;
        pass(OutboxRelay.INTERVAL);

        assertThat(read(reader, HEALTHY)).isEqualTo("new");
    }

    private Node start() {
        Node node = new Node();
        nodes.add(node);
        // Longer than a node that takes the lease delivers again.
        pass(Duration.ofSeconds(8));
        return node;
    }

    private String read(Node node, CacheKey<String> key) {
        return node.engine.fetch(key, () -> data);
    }

    /** A node that is lost writes a row for each key. */
    private void update(List<CacheKey<?>> keys) {
        data = "new";
        keys.forEach(key -> outbox.put(new Message("row of " + key, CacheSpec.DEFAULT_CLUSTER, List.of(key.name()))));
    }

    /** The threads of all nodes run. */
    private void pass(Duration time) {
        for (long steps = time.dividedBy(STEP); steps > 0; steps--) {
            bench.clock.advance(STEP);
            nodes.forEach(Node::run);
        }
    }

    private final class Node {

        private final Set<Integer> lost = new LinkedHashSet<>();
        private final EasyCacheEngine engine = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, facade(EntryStore.class, bench.store, this::isolated))
                .background(bench.background)
                .degraded(DegradedOptions.defaults())
                .outbox(facade(Outbox.class, outbox, this::connected))
                .ticker(bench.clock)
                .buildStopped();
        private boolean databaseAway;
        private boolean isRunning;

        /** A method that takes 10 ms for each message or key; the other nodes run meanwhile. */
        private String slow = "";

        private long nextTick;
        private long nextRound;

        void lose(int master) {
            lost.add(master);
        }

        private Object isolated(Call call) throws Exception {
            takeTime(call);
            lost.forEach(bench.store::away);
            try {
                return call.action.call();
            } finally {
                lost.forEach(bench.store::back);
            }
        }

        /** The identity of the table is known. */
        private Object connected(Call call) throws Exception {
            if (databaseAway && !call.method().equals("id")) {
                throw new OutboxException("the database is away", null);
            }
            takeTime(call);
            return call.action.call();
        }

        private void takeTime(Call call) {
            if (call.method.equals(slow)
                    && bench.clock.nanoTime() < slowUntil
                    && call.first instanceof Collection<?> all) {
                sizes.add(all.size());
                for (int i = 10; i <= all.size(); i += 10) {
                    bench.clock.advance(STEP);
                    nodes.forEach(Node::run);
                }
            }
        }

        private void run() {
            if (!isRunning) {
                isRunning = true;
                runDue();
                isRunning = false;
            }
        }

        private void runDue() {
            CacheCluster cluster = engine.cluster(CacheSpec.DEFAULT_CLUSTER);
            if (bench.clock.nanoTime() >= nextTick) {
                List.copyOf(cluster.workers()).forEach(RecoveryWorker::tick);
                nextTick = bench.clock.nanoTime() + Duration.ofSeconds(1).toNanos();
            }
            if (bench.clock.nanoTime() >= nextRound) {
                nextRound = bench.clock.nanoTime() + cluster.relay().round().toNanos();
            }
        }
    }

    /** One call of a facade. */
    private record Call(String method, @Nullable Object first, Callable<?> action) {}

    private interface Around {
        Object call(Call call) throws Exception;
    }

    private static <T> T facade(Class<T> type, T target, Around around) {
        Object facade =
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        Object first = arguments == null ? null : arguments[0];
                        return around.call(new Call(method.getName(), first, () -> method.invoke(target, arguments)));
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
        return type.cast(facade);
    }
}
