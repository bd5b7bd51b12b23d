package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.SendOutcome.DUPLICATE;
import static io.easykit.delayqueue.SendOutcome.REPLAYED;
import static io.easykit.delayqueue.SendOutcome.STORED;
import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.at;
import static io.easykit.delayqueue.redis.TestShard.in;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SendScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void storesBodiesAndDueTimesAndCountsThem() {
        assertThat(shard.store.send(KEY, List.of(in("a", 500, "one"), at("b", 1200, "two"))))
                .containsExactly(STORED, STORED);

        assertThat(shard.state())
                .isEqualTo(
                        """
                counters sent=2
                m:a one
                m:b two
                waiting b=1200, a=1500""");
    }

    @Test
    void roundsTheDueTimeOfADelayUp() {
        shard.clockMicros(1_000_001);

        shard.store.send(KEY, List.of(in("a", 0, "one")));

        assertThat(shard.state()).contains("waiting a=1001");
    }

    @Test
    void leavesALiveIdAloneAndTellsItsOwnReplayFromSomebodyElsesMessage() {
        shard.seed(
                """
                ZADD waiting 5000 a
                SET m:a one
                HSET counters sent 1""");
        String before = shard.state();

        assertThat(shard.store.send(KEY, List.of(in("a", 1, "one"), in("a", 1, "other"))))
                .containsExactly(REPLAYED, DUPLICATE);
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void storesARepeatedIdOfOneBatchOnce() {
        assertThat(shard.store.send(KEY, List.of(in("a", 1, "one"), in("a", 2, "two"))))
                .containsExactly(STORED, DUPLICATE);

        assertThat(shard.state())
                .isEqualTo(
                        """
                counters sent=1
                m:a one
                waiting a=1001""");
    }
}
