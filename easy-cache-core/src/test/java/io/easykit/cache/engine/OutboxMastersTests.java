package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox.Message;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One master of three is away, and the outbox has messages for it. The id of a key decides its master. */
class OutboxMastersTests {

    private static final CacheSpec<String> AP = Workbench.ap();
    private static final CacheKey<String> HEALTHY = AP.key(0);
    private static final CacheKey<String> LOST = AP.key(1);
    private static final CacheKey<String> OTHER =
            CacheSpec.of("other", String.class).key(2);

    private final Workbench bench = new Workbench();
    private final InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
    private final AtomicInteger loads = new AtomicInteger();
    private final EasyCacheEngine node;
    private String data = "old";

    OutboxMastersTests() {
        bench.store.inParts(3);
        node = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, bench.store)
                .background(bench.background)
                .degraded(DegradedOptions.defaults())
                .outbox(outbox)
                .ticker(bench.clock)
                .buildStopped();
        // Longer than a node that takes the lease delivers again.
        seconds(8);
        assertThat(node.fetch(LOST, () -> data)).isEqualTo("old");
    }

    enum Messages {
        A_CLEARING {
            @Override
            void put(OutboxMastersTests test) {
                test.put("clearing", AP.all());
            }
        },
        A_CLEARING_AND_AN_ENTRY {
            @Override
            void put(OutboxMastersTests test) {
                test.put("clearing", AP.all(), OTHER);
            }
        },
        A_CLEARING_BESIDE_AN_ENTRY_OF_THE_MASTER {
            @Override
            void put(OutboxMastersTests test) {
                test.put("clearing", AP.all());
                test.put("entry", LOST);
            }
        },
        ENTRIES_OF_TWO_MASTERS {
            @Override
            void put(OutboxMastersTests test) {
                test.put("entries", HEALTHY, LOST);
            }
        },
        AN_ENTRY_OF_THE_MASTER_AFTER_A_DELIVERY {
            @Override
            void put(OutboxMastersTests test) {
                test.put("entry", LOST);
            }
        };

        abstract void put(OutboxMastersTests test);
    }

    @ParameterizedTest
    @EnumSource(Messages.class)
    void aMessageThatWaitsForAMasterKeepsNoEntryOfTheOthersOutOfTheCache(Messages messages) {
        put("before", HEALTHY);
        seconds(1);
        assertThat(outbox.waiting()).isZero();
        bench.store.away(1);
        data = "new";
        messages.put(this);
        loads.set(0);

        seconds(30);

        assertThat(outbox.waiting()).isPositive();
        // The circuit breaker opens after three rounds that fail. The epochs are raised twice, see EpochUpkeep.
        assertThat(loads).as("loads in 30 s").hasValueLessThan(8);
        assertThat(node.fetch(HEALTHY, () -> "never")).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Messages.class)
    void itIsDeliveredToAllWhenTheMasterIsBack(Messages messages) {
        bench.store.away(1);
        data = "new";
        messages.put(this);
        seconds(10);
        bench.store.back(1);
        seconds(10);

        assertThat(node.availability(CacheSpec.DEFAULT_CLUSTER).state()).isEqualTo(State.AVAILABLE);
        assertThat(outbox.waiting()).isZero();
        assertThat(node.fetch(LOST, () -> data)).isEqualTo("new");
    }

    /** An entry may have been computed from an older one of the master that was away. */
    @Test
    void aClearingIsDeliveredToTheOthersOnceMoreWhenTheMasterIsBack() {
        bench.store.away(1);
        put("clearing", AP.all());
        seconds(10);
        bench.store.back(1);
        loads.set(0);

        seconds(10);

        assertThat(loads).hasValueBetween(1, 3);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void oneOfTwoMastersThatIsBackNeedNotWaitForTheOther(int first) {
        CacheKey<String> back = AP.key(first);
        assertThat(node.fetch(back, () -> data)).isEqualTo("old");
        bench.store.away(1);
        bench.store.away(2);
        data = "new";
        put("clearing", AP.all());
        seconds(10);

        bench.store.back(first);
        seconds(10);

        assertThat(node.fetch(back, () -> data)).isEqualTo("new");
        assertThat(outbox.waiting()).isPositive();
    }

    /** It has taken one call too long, or has refused the key for some time. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMessageThatAHealthyMasterDidNotTakeIsTriedThereAgain(boolean refused) {
        bench.store.away(1);
        seconds(10);
        data = "new";
        put("entries", HEALTHY, LOST);
        put("third", AP.key(2));
        if (refused) {
            bench.store.refuse(HEALTHY);
        } else {
            bench.store.failNext(Operation.DROP, Fault.LOST_REQUEST);
        }
        seconds(1);
        bench.store.allow(HEALTHY);

        seconds(40);

        assertThat(node.fetch(HEALTHY, () -> "never")).isEqualTo("new");
    }

    @Test
    void manyMessagesForTheMasterHoldUpNoneForTheOthers() {
        bench.store.away(1);
        IntStream.range(0, 2 * OutboxDelivery.MESSAGES).forEach(i -> put("away" + i, AP.key(1 + 3 * i)));
        data = "new";
        put("healthy", HEALTHY);

        seconds(10);

        assertThat(node.fetch(HEALTHY, () -> "never")).isEqualTo("new");
    }

    /** Each try is a write to the database, for each of them. */
    @Test
    void manyMessagesForTheMasterAreTriedInTurns() {
        bench.store.away(1);
        IntStream.range(0, 10 * OutboxDelivery.MESSAGES).forEach(i -> put("away" + i, AP.key(1 + 3 * i)));
        data = "new";
        seconds(10);
        int before = outbox.queries();
        seconds(10);
        assertThat(outbox.queries() - before).as("queries in 10 s").isLessThan(40);

        bench.store.back(1);
        seconds(5);
        assertThat(node.fetch(LOST, () -> data)).as("delivered by the recovery").isEqualTo("new");
        seconds(10);
        assertThat(outbox.waiting()).isZero();
    }

    /** So much is not remembered, and must not be tried each second either. */
    @Test
    void moreMessagesThanAreRememberedWaitForTheMasterAsWell() {
        bench.store.away(1);
        seconds(10);
        int rows = PartlyDelivered.MOST + 10 * OutboxDelivery.MESSAGES;
        IntStream.range(0, rows).forEach(i -> put("away" + i, AP.key(1 + 3 * i)));
        seconds(32);
        int before = outbox.queries();

        seconds(30);

        assertThat(outbox.queries() - before)
                .as("each is tried once in 30 s, and each second ends with a query")
                .isLessThan(2 * rows / OutboxDelivery.MESSAGES + 60);
    }

    /** Those of two masters are delivered to the healthy one each time. */
    @Test
    void moreMessagesOfTwoMastersThanAreRememberedAreDeliveredSeldom() {
        bench.store.away(1);
        seconds(10);
        int rows = PartlyDelivered.MOST + OutboxDelivery.MESSAGES;
        IntStream.range(0, rows).forEach(i -> put("both" + i, AP.key(3 * i + 3), AP.key(1 + 3 * i)));
        seconds(32);
        int before = bench.store.count(Operation.DROP);

        seconds(30);

        assertThat(bench.store.count(Operation.DROP) - before)
                .as("deliveries of the others in 30 s")
                .isLessThan(8);
    }

    /** For example a backlog for a master that is away. Other work of the round waits: a count, and a second delivery. */
    @Test
    void aRoundEndsAlthoughMoreMessagesAreDue() {
        AtomicInteger more = new AtomicInteger();
        outbox.beforeDue(() -> {
            bench.clock.advance(Duration.ofSeconds(4));
            if (more.get() < 100) {
                put("more" + more.incrementAndGet(), HEALTHY);
            }
        });

        node.cluster(CacheSpec.DEFAULT_CLUSTER).relay().round();

        assertThat(more).hasValue(3);
    }

    private void put(String id, CacheKey<?>... keys) {
        outbox.put(new Message(
                id,
                CacheSpec.DEFAULT_CLUSTER,
                Stream.of(keys).map(CacheKey::name).toList()));
    }

    /** Rounds of all threads, with many readers of an entry of a healthy master. */
    private void seconds(int count) {
        CacheCluster cluster = node.cluster(CacheSpec.DEFAULT_CLUSTER);
        for (int second = 0; second < count; second++) {
            bench.clock.advance(Duration.ofSeconds(1));
            List.copyOf(cluster.workers()).forEach(RecoveryWorker::tick);
            cluster.relay().round();
            for (int reader = 0; reader < 10; reader++) {
                String unused = node.fetch(HEALTHY, () -> {
                    loads.incrementAndGet();
                    return data;
                });
            }
        }
    }
}
