package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.store.Page;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
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

        assertThat(shard.store.list(KEY, State.DEAD, 0, 1))
                .isEqualTo(new Page(
                        3,
                        List.of(new StoredMessage(
                                "a",
                                State.DEAD,
                                ms(700),
                                new History(5, 3, 1, 2, ms(600), "o"),
                                new ErrorNote(ms(1), "o", "x"),
                                new ErrorNote(ms(1), "o", "y"),
                                frame("one")))));
        assertThat(shard.store.list(KEY, State.DEAD, 1, 10).messages())
                .extracting(StoredMessage::id)
                .containsExactly("b", "c");
        assertThat(shard.store.list(KEY, State.WAITING, 0, 10)).isEqualTo(new Page(0, List.of()));
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void showsADamagedEntryAsSuchAndTheOthersAsEver() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                RPUSH m:b garbage
                MSET m:c three
                HSET state a x:y b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa nonsense La 1:o:y Fb 1 Lb z:o:x
                HSET counters sent x acknowledged 7 dead -""");

        List<StoredMessage> page = shard.store.list(KEY, State.DEAD, 0, 10).messages();

        assertThat(page).extracting(StoredMessage::id).containsExactly("a", "b", "c");
        assertThat(page.get(0).damage()).contains("its state is unreadable: x:y", "its first error is unreadable");
        assertThat(page.get(0).history()).isNull();
        assertThat(page.get(0).lastError()).isEqualTo(new ErrorNote(ms(1), "o", "y"));
        assertThat(page.get(1).frame()).isNull();
        assertThat(page.get(1).history()).isNotNull();
        assertThat(page.get(1).damage()).contains("first error", "last error");
        assertThat(page.get(2).damage()).isNull();
        assertThat(shard.store.find(KEY, "a").orElseThrow()).isEqualTo(page.get(0));
        assertThat(shard.store.stats(KEY).dead()).isEqualTo(3);
        assertThat(shard.store.stats(KEY).counters().acknowledged()).isEqualTo(7);
    }

    @Test
    void countsAndListsWhereErrorsCountersOrSettingsHaveAnotherType() {
        shard.seed(
                """
                ZADD dead 700 a
                SET m:a one
                SET errors x
                SET counters x
                SET settings x
                SET state x""");

        assertThat(shard.store.stats(KEY).dead()).isEqualTo(1);
        assertThat(shard.store.list(KEY, State.DEAD, 0, 10).messages())
                .containsExactly(new StoredMessage("a", State.DEAD, ms(700), null, null, null, frame("one")));
    }

    @Test
    void showsWhatHasNoBodyAndNoHistory() {
        shard.seed("ZADD waiting 1500 a");

        assertThat(shard.store.list(KEY, State.WAITING, 0, 10).messages())
                .containsExactly(new StoredMessage("a", State.WAITING, ms(1500), null, null, null, null));
    }
}
