package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.leases;
import static io.easykit.delayqueue.store.Settlement.APPLIED;
import static io.easykit.delayqueue.store.Settlement.GONE;
import static io.easykit.delayqueue.store.Settlement.STALE;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ExtendScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void prolongsWhatIsHeldAndNothingElse() {
        shard.seed(
                """
                ZADD inflight 1500 a 1600 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p""");

        assertThat(shard.store.extend(KEY, leases("a", 5, "b", 5, "c", 5), Duration.ofMillis(900)))
                .containsExactly(APPLIED, STALE, GONE);
        assertThat(shard.state())
                .isEqualTo(
                        """
                inflight b=1600, a=1900
                m:a one
                m:b two
                state a=5:1:0:0:800:o, b=6:0:0:0:810:p""");
    }

    @Test
    void doesNotShortenALease() {
        shard.seed(
                """
                ZADD inflight 1500 a 1600 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p""");
        String before = shard.state();

        assertThat(shard.store.extend(KEY, leases("a", 5), Duration.ofMillis(100)))
                .containsExactly(APPLIED);
        assertThat(shard.state()).isEqualTo(before);
    }
}
