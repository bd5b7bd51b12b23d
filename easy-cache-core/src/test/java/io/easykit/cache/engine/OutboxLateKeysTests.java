package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox.Message;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Keys that join an update during its commit, after the others were prepared: from the flush of an entity manager, for example. An
 * entry is computed from another one of the same update, and Redis does not acknowledge both.
 */
class OutboxLateKeysTests {

    private static final CacheSpec<String> SOURCES = Workbench.ap();
    private static final CacheKey<String> SOURCE = SOURCES.key(1);
    private static final CacheSpec<String> VIEWS =
            CacheSpec.of("view", String.class).withOptions(SOURCES.options());
    private static final CacheKey<String> VIEW = VIEWS.key(1);
    private static final Duration LEASE = SOURCES.options().updateLease();

    private final Workbench bench = new Workbench();
    private final InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
    private final FaultyCacheStore nowhere = new FaultyCacheStore(bench.clock::millis);
    private final AtomicReference<EntryStore> redis = new AtomicReference<>(bench.store);
    private final EasyCacheEngine node = node(OutboxTests.switching(redis));
    private final EasyCacheEngine other = node(bench.store);
    private final EasyCacheEngine reader = node(bench.store);
    private String data = "old";

    OutboxLateKeysTests() {
        nowhere.away();
        assertThat(read()).isEqualTo("view of old");
    }

    enum NotAcknowledged {
        THE_FIRST,
        THE_LATE_ONE
    }

    enum Late {
        THE_SOURCE,
        THE_VIEW
    }

    /** Without one message for both, the second delivery would come after a value was computed from the old source. */
    @ParameterizedTest
    @EnumSource
    void aMessageNamesBothIfOneIsNotAcknowledged(NotAcknowledged which) throws Exception {
        for (Late late : Late.values()) {
            List<CacheKey<?>> keys = late == Late.THE_SOURCE ? List.of(VIEW, SOURCE) : List.of(SOURCE, VIEW);
            if (which == NotAcknowledged.THE_FIRST) {
                bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
            }
            redis.set(bench.store);
            commit(() -> node.updateInTransaction(keys.subList(0, 1), () -> null), () -> {
                redis.set(which == NotAcknowledged.THE_LATE_ONE ? nowhere : bench.store);
                node.updateInTransaction(keys.subList(1, 2), () -> null);
            });
            assertThat(messages())
                    .filteredOn(message -> message.keys().size() == 2)
                    .singleElement()
                    .satisfies(message ->
                            assertThat(message.keys()).containsExactlyInAnyOrder(SOURCE.name(), VIEW.name()));
            outbox.delete(messages().stream().map(Message::id).toList());
        }
    }

    /** The mark of the view is over, and its old value is computed again, before a node delivers the outbox. */
    @Test
    void aLateDeliveryLeavesNoValueThatWasComputedFromAnOldOne() throws Exception {
        commit(() -> node.updateInTransaction(List.of(VIEW), () -> null), () -> {
            redis.set(nowhere);
            node.updateInTransaction(List.of(SOURCE), () -> null);
        });
        bench.clock.advance(LEASE);
        assertThat(read()).as("the source is still the old one").isEqualTo("view of old");

        other.cluster(CacheSpec.DEFAULT_CLUSTER).relay().round();
        assertThat(read()).isEqualTo("view of new");
    }

    @Test
    void aKeyThatIsNamedAgainWritesNothing() throws Exception {
        redis.set(nowhere);
        List<CacheKey<?>> keys = List.of(SOURCES.all(), VIEW);
        commit(() -> node.updateInTransaction(keys, () -> null), () -> {
            for (int times = 0; times < 5; times++) {
                node.updateInTransaction(keys, () -> null);
            }
        });
        assertThat(messages()).hasSize(1);
    }

    /** The rows of many late keys do not grow with the square of their number. */
    @ParameterizedTest
    @EnumSource
    void keysThatJoinALargeUpdateHaveAMessageOfTheirOwn(Late late) throws Exception {
        redis.set(nowhere);
        int most = UpdatePhases.MOST_TOGETHER;
        CacheKey<?> first = late == Late.THE_SOURCE ? VIEW : SOURCES.all();
        commit(() -> node.updateInTransaction(List.of(first), () -> null), () -> {
            for (long id = 2; id <= 2L * most; id++) {
                node.updateInTransaction(List.of(VIEWS.key(id)), () -> null);
            }
        });
        int rows =
                messages().stream().mapToInt(message -> message.keys().size()).sum();
        assertThat(rows).isEqualTo(most * (most + 1) / 2 + most);
    }

    private List<Message> messages() {
        return outbox.all(CacheSpec.DEFAULT_CLUSTER, "", 1000);
    }

    /** The first step comes before the preparation of the commit, the second one after it. The node dies after the commit. */
    private void commit(Runnable first, Runnable late) throws Exception {
        boolean unused = TwoNodes.inBackground(() -> {
                    bench.transactions.begin();
                    first.run();
                    Objects.requireNonNull(bench.transactions.current()).beforeCommit();
                    late.run();
                    data = "new";
                    outbox.end(true);
                })
                .result();
    }

    private String read() {
        return reader.fetch(VIEW, () -> "view of " + reader.fetch(SOURCE, () -> data));
    }

    private EasyCacheEngine node(EntryStore store) {
        return EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .transactions(bench.transactions)
                .background(bench.background)
                .outbox(outbox)
                .ticker(bench.clock)
                .buildStopped();
    }
}
