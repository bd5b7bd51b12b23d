package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FindScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void findsAMessageAlthoughAnotherPlaceIsDamaged() {
        shard.seed(
                """
                SET dead garbage
                ZADD waiting 1500 a
                SET m:a one""");

        assertThat(shard.store.find(KEY, "a").map(StoredMessage::state)).contains(State.WAITING);
        assertThatThrownBy(() -> shard.store.find(KEY, "b"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("dq:{t:0}:dead is not a sorted set");
    }

    @Test
    void findsAMessageInEachPlaceAndChangesNothing() {
        shard.seed(
                """
                ZADD waiting 1500 a
                ZADD inflight 1600 b
                ZADD dead 700 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:1:0:0:1500:o b 6:0:0:0:810:p c 4:1:0:0:600:o
                HSET errors Fa 1:o:x La 1:o:x""");
        String before = shard.state();

        assertThat(shard.store.find(KEY, "a").map(StoredMessage::state)).contains(State.WAITING);
        assertThat(shard.store.find(KEY, "b"))
                .contains(new StoredMessage(
                        "b",
                        State.IN_FLIGHT,
                        ms(1600),
                        new History(6, 0, 0, 0, ms(810), "p"),
                        null,
                        null,
                        frame("two")));
        assertThat(shard.store.find(KEY, "c").map(StoredMessage::state)).contains(State.DEAD);
        assertThat(shard.store.find(KEY, "d")).isEmpty();
        assertThat(shard.state()).isEqualTo(before);
    }
}
