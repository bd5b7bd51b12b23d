package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
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
import java.util.stream.LongStream;
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
            loseNextPreparationIf(which == NotAcknowledged.THE_FIRST);
            redis.set(bench.store);
            commitAndDie(() -> node.updateInTransaction(keys.subList(0, 1), () -> null), () -> {
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
        commitAndDie(() -> node.updateInTransaction(List.of(VIEW), () -> null), () -> {
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
        commitAndDie(() -> node.updateInTransaction(keys, () -> null), () -> {
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
        commitAndDie(() -> node.updateInTransaction(List.of(first), () -> null), () -> {
            for (long id = 2; id <= 2L * most; id++) {
                node.updateInTransaction(List.of(VIEWS.key(id)), () -> null);
            }
        });
        int rows =
                messages().stream().mapToInt(message -> message.keys().size()).sum();
        assertThat(rows).isEqualTo(most * (most + 1) / 2 + most);
    }

    /** All of it would be written again for each, although nothing is missing. */
    @Test
    void aLateKeyOfALargeUpdateThatIsPreparedWritesNothing() throws Exception {
        List<CacheKey<?>> many = LongStream.range(0, UpdatePhases.MOST_TOGETHER)
                .<CacheKey<?>>mapToObj(VIEWS::key)
                .toList();
        bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        commitAndDie(
                () -> node.updateInTransaction(many, () -> null),
                () -> node.updateInTransaction(List.of(SOURCE), () -> null));
        assertThat(messages()).singleElement().satisfies(message -> assertThat(message.keys())
                .hasSameSizeAs(many));
    }

    /** The application goes on without it. It must not cost the updates after it, and is refused again when it is named again. */
    @Test
    void aLateKeyThatIsRefusedRefusesNoOther() throws Exception {
        CacheKey<String> strong = CacheSpec.of("strong", String.class)
                .withOptions(Workbench.cp().options())
                .key(1);
        redis.set(nowhere);
        commitAndDie(
                () -> node.updateInTransaction(List.of(VIEW), () -> null),
                () -> assertRefused(strong),
                () -> node.updateInTransaction(List.of(SOURCE), () -> null),
                () -> assertRefused(strong));
        assertThat(messages()).anySatisfy(message -> assertThat(message.keys()).contains(SOURCE.name(), VIEW.name()));
    }

    private void assertRefused(CacheKey<?> key) {
        assertThatThrownBy(() -> node.updateInTransaction(List.of(key), () -> null))
                .isInstanceOf(CacheUnavailableException.class);
    }

    /** Values may be computed from older ones between the two invalidations. */
    @ParameterizedTest
    @EnumSource
    void keysThatAreNotAllPreparedAreInvalidatedTwice(NotAcknowledged which) {
        bench.transactions.begin();
        loseNextPreparationIf(which == NotAcknowledged.THE_FIRST);
        node.updateInTransaction(List.of(VIEW), () -> null);
        Objects.requireNonNull(bench.transactions.current()).beforeCommit();
        loseNextPreparationIf(which == NotAcknowledged.THE_LATE_ONE);
        node.updateInTransaction(List.of(SOURCE), () -> null);
        bench.transactions.commit(() -> outbox.end(true));
        assertThat(bench.store.count(Operation.INVALIDATE)).isOne();
        assertThat(bench.store.count(Operation.DROP)).as("the second time").isOne();
    }

    private void loseNextPreparationIf(boolean lost) {
        if (lost) {
            bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        }
    }

    private List<Message> messages() {
        return outbox.all(CacheSpec.DEFAULT_CLUSTER, "", 1000);
    }

    private void commitAndDie(Runnable... updates) throws Exception {
        bench.commitAndDie(
                () -> {
                    data = "new";
                    outbox.end(true);
                },
                updates);
    }

    private String read() {
        return reader.fetch(VIEW, () -> "view of " + reader.fetch(SOURCE, () -> data));
    }

    private EasyCacheEngine node(EntryStore store) {
        return bench.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .outbox(outbox)
                .buildStopped();
    }
}
