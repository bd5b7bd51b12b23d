package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Replacement.Outcome;
import io.easykit.delayqueue.support.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReplaceScriptTests {

    private static final DeadLetterRef DEATH = new DeadLetterRef("a", ms(700));

    private final TestShard shard = new TestShard();

    @BeforeEach
    void seed() {
        shard.seed(
                """
                ZADD dead 700 a
                SET m:a 12345678old
                HSET state a 5:3:1:2:600:o
                HSET errors Fa 1:o:x La 1:o:y""");
    }

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void replacesTheFrameAndSendsTheMessageBack() {
        assertThat(shard.store.replace(KEY, DEATH, frame("12345678"), frame("87654321new")))
                .isEqualTo(Outcome.REPLACED);

        String after = shard.state();
        assertThat(after)
                .isEqualTo(
                        """
                        count:redriven 1
                        errors Fa=1:o:x, La=1:o:y
                        m:a 87654321new
                        state a=5:0:0:2:1000:o
                        waiting a=1000""");
        assertThat(shard.store.replace(KEY, DEATH, frame("12345678"), frame("87654321new")))
                .as("a repetition")
                .isEqualTo(Outcome.REPLACED);
        assertThat(shard.store.replace(KEY, DEATH, Bytes.NONE, frame("another")))
                .isEqualTo(Outcome.NOT_DEAD);
        assertThat(shard.state()).isEqualTo(after);
    }

    @Test
    void leavesAMessageThatIsNotTheOneThatIsMeant() {
        String before = shard.state();

        assertThat(shard.store.replace(KEY, new DeadLetterRef("a", ms(701)), Bytes.NONE, frame("new")))
                .isEqualTo(Outcome.NOT_DEAD);
        assertThat(shard.store.replace(KEY, DEATH, frame("other"), frame("new")))
                .isEqualTo(Outcome.OTHER_INCARNATION);
        assertThat(shard.store.replace(KEY, DEATH, frame("1234"), frame("new"))).isEqualTo(Outcome.OTHER_INCARNATION);
        assertThat(shard.store.replace(KEY, new DeadLetterRef("b", ms(700)), Bytes.NONE, frame("new")))
                .isEqualTo(Outcome.NOT_DEAD);
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void givesAMessageABodyThatHasNone() {
        shard.seed("DEL m:a");

        assertThat(shard.store.replace(KEY, DEATH, frame("12345678"), frame("new")))
                .isEqualTo(Outcome.OTHER_INCARNATION);
        assertThat(shard.store.replace(KEY, DEATH, Bytes.NONE, frame("new"))).isEqualTo(Outcome.REPLACED);
        assertThat(shard.store.find(KEY, "a").orElseThrow().frame()).isEqualTo(frame("new"));
    }

    @Test
    void finishesACallThatStoppedHalfWay() {
        shard.seed("SET m:a 87654321new");

        assertThat(shard.store.replace(KEY, DEATH, frame("12345678"), frame("87654321new")))
                .isEqualTo(Outcome.REPLACED);
        assertThat(shard.store.stats(KEY).dead()).isZero();
        assertThat(shard.store.stats(KEY).waiting()).isEqualTo(1);
    }

    @Test
    void isRefusedWholeByAFullRedis() {
        String before = shard.state();
        shard.redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThatThrownBy(() -> shard.store.replace(KEY, DEATH, Bytes.NONE, frame("new")))
                    .isInstanceOf(StoreFullException.class);
        } finally {
            shard.redis().command("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(shard.state()).isEqualTo(before);
    }
}
