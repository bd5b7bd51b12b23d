package io.easykit.delayqueue.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.ShardKey;
import io.lettuce.core.cluster.SlotHash;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MasterPingTests {

    private static final int A = 0;
    private static final int B = 3;
    private static final int C = 12;

    private final Set<Integer> away = new HashSet<>();
    private final List<Integer> reads = new ArrayList<>();
    private final MasterPing ping = new MasterPing(shard -> {
        reads.add(shard.shard());
        if (away.contains(shard.shard())) {
            throw new StoreUnavailableException("no reply", new IllegalStateException());
        }
    });

    @Test
    void readsOneShardWhileItsMasterReplies() {
        ping.run();
        ping.run();

        assertThat(reads).containsExactly(A, A);
    }

    @Test
    void readsAnotherMasterIfOneIsAwayAndStaysWithIt() {
        away.add(A);
        ping.run();
        ping.run();

        assertThat(reads).containsExactly(A, B, B);
    }

    @Test
    void failsAfterTwoReadsAndBeginsWithAThirdMasterTheNextTime() {
        away.addAll(Set.of(A, B));
        assertThatThrownBy(ping::run).isInstanceOf(StoreUnavailableException.class);
        ping.run();

        assertThat(reads).containsExactly(A, B, C);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 6, 12})
    void readsDifferentMastersOneAfterTheOther(int masters) {
        List<Integer> owners = MasterPing.SHARDS.stream()
                .map(shard -> SlotHash.getSlot(tag(shard)) * masters / SlotHash.SLOT_COUNT)
                .toList();

        assertThat(owners).doesNotHaveDuplicates();
    }

    private static String tag(ShardKey shard) {
        return "dq:{" + shard.topic() + ":" + shard.shard() + "}:stats";
    }
}
