package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.ShardStats.Counters;
import io.easykit.delayqueue.admin.ShardStats.Pause;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StatsScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void countsPlacesAndLedger() {
        shard.seed(
                """
                ZADD waiting 1500 a
                ZADD inflight 1600 b
                ZADD dead 700 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:1:0:0:1500:o b 6:0:0:0:810:p c 4:1:0:0:600:o
                HSET errors Fa 1:o:x La 1:o:x
                ZADD waiting 1000 e 980 f
                SET count:sent 20
                SET count:acknowledged 10
                SET count:failed 1
                SET count:lost 2
                SET count:dead 3
                SET count:cancelled 2
                SET count:redriven 1
                SET count:purged 4
                HSET settings paused 900:ops:
                SET alert:dead raised
                SET alert:failing raised
                SET alert:unknown raised""");

        ShardStats stats = shard.store.stats(KEY);

        assertThat(stats)
                .isEqualTo(new ShardStats(
                        ms(1000),
                        new Pause(ms(900), "ops:"),
                        3,
                        2,
                        1,
                        1,
                        ms(980),
                        Set.of(Kind.DEAD, Kind.FAILING),
                        new Counters(20, 10, 1, 2, 3, 2, 1, 4)));
        assertThat(stats.imbalance()).isEqualTo(20 - 10 - 2 - 4 - 5);
    }

    @Test
    void isZeroEverywhereAtFirst() {
        assertThat(shard.store.stats(KEY))
                .isEqualTo(new ShardStats(
                        ms(1000), null, 0, 0, 0, 0, null, Set.of(), new Counters(0, 0, 0, 0, 0, 0, 0, 0)));
        assertThat(shard.state()).isEmpty();
    }
}
