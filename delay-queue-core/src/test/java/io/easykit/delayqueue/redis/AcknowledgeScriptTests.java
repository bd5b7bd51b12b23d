package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.leases;
import static io.easykit.delayqueue.store.Settlement.APPLIED;
import static io.easykit.delayqueue.store.Settlement.GONE;
import static io.easykit.delayqueue.store.Settlement.STALE;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AcknowledgeScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void removesEverythingOfWhatIsHeld() {
        shard.seed(
                """
                ZADD inflight 1500 a 1600 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p
                HSET errors Fa 1:o:x La 1:o:y Fb 1:p:z""");

        assertThat(shard.store.acknowledge(KEY, leases("a", 5, "b", 7, "c", 5, "a", 5)))
                .containsExactly(APPLIED, STALE, GONE, STALE);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:acknowledged 1
                errors Fb=1:p:z
                inflight b=1600
                m:b two
                state b=6:0:0:0:810:p""");
    }

    @Test
    void changesNothingForWhatWaitsAgainUnderTheSameNumber() {
        shard.seed(
                """
                ZADD waiting 1500 a
                SET m:a one
                HSET state a 5:1:0:0:1500:o""");
        String before = shard.state();

        assertThat(shard.store.acknowledge(KEY, leases("a", 5))).containsExactly(STALE);
        assertThat(shard.state()).isEqualTo(before);
    }
}
