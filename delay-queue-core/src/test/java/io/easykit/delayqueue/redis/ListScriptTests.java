package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.QueueStore.Page;
import io.easykit.delayqueue.StoredMessage;
import io.easykit.delayqueue.StoredMessage.ErrorNote;
import io.easykit.delayqueue.StoredMessage.History;
import io.easykit.delayqueue.StoredMessage.Place;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ListScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void readsAPageWithHistoryErrorsAndBodies() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:3:1:2:600:o b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa 1:o:x La 1:o:y""");
        String before = shard.state();

        assertThat(shard.store.list(KEY, Place.DEAD, 0, 1))
                .isEqualTo(new Page(
                        3,
                        List.of(new StoredMessage(
                                "a",
                                Place.DEAD,
                                ms(700),
                                new History(5, 3, 1, 2, ms(600), "o"),
                                new ErrorNote(ms(1), "o", "x"),
                                new ErrorNote(ms(1), "o", "y"),
                                frame("one")))));
        assertThat(shard.store.list(KEY, Place.DEAD, 1, 10).messages())
                .extracting(StoredMessage::id)
                .containsExactly("b", "c");
        assertThat(shard.store.list(KEY, Place.WAITING, 0, 10)).isEqualTo(new Page(0, List.of()));
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void showsWhatHasNoBodyAndNoHistory() {
        shard.seed("ZADD waiting 1500 a");

        assertThat(shard.store.list(KEY, Place.WAITING, 0, 10).messages())
                .containsExactly(new StoredMessage("a", Place.WAITING, ms(1500), null, null, null, null));
    }
}
