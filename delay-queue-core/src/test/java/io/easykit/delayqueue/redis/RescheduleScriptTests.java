package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.ChangeOutcome.APPLIED;
import static io.easykit.delayqueue.ChangeOutcome.DEAD;
import static io.easykit.delayqueue.ChangeOutcome.GONE;
import static io.easykit.delayqueue.ChangeOutcome.IN_FLIGHT;
import static io.easykit.delayqueue.ChangeOutcome.OTHER_INCARNATION;
import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RescheduleScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void movesWhatWaitsAndNothingElse() {
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

        assertThat(shard.store.reschedule(
                        KEY,
                        List.of(
                                move("a", 100, null),
                                move("b", 100, null),
                                move("c", 100, null),
                                move("d", 100, null))))
                .containsExactly(APPLIED, IN_FLIGHT, DEAD, GONE);
        assertThat(shard.state())
                .isEqualTo(
                        """
                dead c=700
                errors Fa=1:o:x, La=1:o:x
                inflight b=1600
                m:a one
                m:b two
                m:c three
                state a=5:1:0:0:1500:o, b=6:0:0:0:810:p, c=4:1:0:0:600:o
                waiting a=1100""");
    }

    @Test
    void takesTheLastOfTwoMovesInOneBatch() {
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

        assertThat(shard.store.reschedule(KEY, List.of(move("a", 100, null), move("a", 50, null))))
                .containsExactly(APPLIED, APPLIED);
        assertThat(shard.state()).contains("waiting a=1050");
    }

    @Test
    void leavesAnotherIncarnationOfTheIdAlone() {
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

        assertThat(shard.store.reschedule(KEY, List.of(move("a", 100, "two")))).containsExactly(OTHER_INCARNATION);
        assertThat(shard.store.reschedule(KEY, List.of(move("a", 100, "on")))).containsExactly(OTHER_INCARNATION);
        assertThat(shard.state()).isEqualTo(before);
    }

    private static Reschedule move(String id, long delay, @Nullable String life) {
        return new Reschedule(
                new Target(id, life == null ? null : frame(life)), DueTime.after(Duration.ofMillis(delay)));
    }
}
