package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.ShardKey;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class MessageIdsTests {

    @Test
    void findsTheShardInAGeneratedId() {
        for (int shard : new int[] {0, 1, 35, 36, ShardKey.MAX_SHARDS - 1}) {
            String id = MessageIds.generate(shard);

            assertThat(MessageIds.shardOf(id, 1, ShardKey.MAX_SHARDS)).as(id).isEqualTo(shard);
        }
    }

    @Test
    void generatesDifferentShortIds() {
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            ids.add(MessageIds.generate(0));
        }

        assertThat(ids).hasSize(10_000).allMatch(id -> id.length() == 19);
    }

    @Test
    void spreadsOwnIdsOverTheShards() {
        long[] perShard = new long[4];
        IntStream.range(0, 10_000).forEach(i -> perShard[MessageIds.shardOf("order-" + i, 4, 4)]++);

        assertThat(LongStream.of(perShard).min().orElseThrow()).isGreaterThan(2000);
    }

    @Test
    void mapsWhateverTextToAShardThatExists() {
        for (String id : new String[] {"~", "~~", "~z~x", "~-1~x", "~+1~x", "~zzz~x", "~zz~x", "a~0~", "ä"}) {
            assertThat(MessageIds.shardOf(id, 3, 3)).as(id).isBetween(0, 2);
        }
    }

    @Test
    void spreadsOwnIdsOverTheHomeShardsOnly() {
        IntStream.range(0, 100).mapToObj(i -> "order-" + i).forEach(id -> assertThat(MessageIds.shardOf(id, 3, 16))
                .isEqualTo(MessageIds.shardOf(id, 3, 3)));
    }
}
