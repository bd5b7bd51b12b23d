package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.leases;
import static io.easykit.delayqueue.store.Settlement.APPLIED;
import static io.easykit.delayqueue.store.Settlement.GONE;
import static io.easykit.delayqueue.store.Settlement.STALE;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReleaseScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void putsBackAtTheOldDueTimeOnNoBudget() {
        shard.seed(
                """
                ZADD inflight 1500 a 1600 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p""");

        assertThat(shard.store.release(KEY, leases("a", 5, "b", 5, "c", 5, "a", 5)))
                .containsExactly(APPLIED, STALE, GONE, STALE);
        assertThat(shard.state())
                .isEqualTo(
                        """
                inflight b=1600
                m:a one
                m:b two
                state a=5:1:0:1:800:o, b=6:0:0:0:810:p
                waiting a=800""");
    }
}
