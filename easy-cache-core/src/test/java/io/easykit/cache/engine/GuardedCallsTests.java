package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore.Snapshot;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GuardedCallsTests {

    private final Workbench bench = new Workbench();

    /** Two calls that fail are too many. */
    private final ClusterAvailability availability = new ClusterAvailability(
            "default",
            new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 2, Duration.ofSeconds(1), 3),
            bench.clock,
            change -> {},
            new CacheListener() {});

    private final GuardedStore store =
            new GuardedStore(bench.store, availability, new RecentInvalidations(bench.clock));

    private List<EntryReply<Snapshot>> read(int keys) {
        return store.callAll(IntStream.range(0, keys)
                .mapToObj(id -> new EntryCall.Read(Workbench.ap().key(id), 0))
                .toList());
    }

    @Test
    void sendsAPartitionNothingMoreAfterAFailureOfItsServer() {
        bench.store.away();
        assertThat(read(1_001)).hasSize(1_001).allMatch(reply -> reply.failure() != null);
        assertThat(bench.store.count(Operation.READ)).isEqualTo(GuardedCalls.CHUNK);
        assertThat(availability.state()).isEqualTo(State.AVAILABLE);
    }

    @Test
    void sendsTheOtherPartitionsAllOfTheirCalls() {
        bench.store.inParts(2).away(1);
        availability.repartition(bench.store.partitions());
        List<EntryReply<Snapshot>> replies = read(2_000);
        for (int id = 0; id < replies.size(); id++) {
            assertThat(replies.get(id).failure() == null).as("reply %d", id).isEqualTo(id % 2 == 0);
        }
        assertThat(bench.store.count(Operation.READ)).isEqualTo(1_000 + GuardedCalls.CHUNK / 2);
    }

    @Test
    void countsTheCallsOfAChunkAsOne() {
        bench.store.away();
        read(10);
        assertThat(availability.state()).isEqualTo(State.AVAILABLE);
        read(10);
        assertThat(availability.state()).isEqualTo(State.UNAVAILABLE);
    }

    @Test
    void countsAChunkAsAFailureIfOneOfItsCallsFailed() {
        for (int i = 0; i < 2; i++) {
            assertThat(availability.state()).isEqualTo(State.AVAILABLE);
            bench.store.failNext(Operation.READ, Fault.LOST_REPLY);
            assertThat(read(10)).filteredOn(reply -> reply.failure() != null).hasSize(1);
        }
        assertThat(availability.state()).isEqualTo(State.UNAVAILABLE);
    }
}
