package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.ChangeOutcome.APPLIED;
import static io.easykit.delayqueue.ChangeOutcome.DEAD;
import static io.easykit.delayqueue.ChangeOutcome.GONE;
import static io.easykit.delayqueue.ChangeOutcome.IN_FLIGHT;
import static io.easykit.delayqueue.ChangeOutcome.OTHER_INCARNATION;
import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.Target;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CancelScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void removesEverythingOfWhatWaitsAndNothingElse() {
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

        assertThat(shard.store.cancel(
                        KEY,
                        List.of(
                                target("a", null),
                                target("a", null),
                                target("b", null),
                                target("c", null),
                                target("d", null))))
                .containsExactly(APPLIED, GONE, IN_FLIGHT, DEAD, GONE);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:cancelled 1
                dead c=700
                inflight b=1600
                m:b two
                m:c three
                state b=6:0:0:0:810:p, c=4:1:0:0:600:o""");
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

        assertThat(shard.store.cancel(KEY, List.of(target("a", "two")))).containsExactly(OTHER_INCARNATION);
        assertThat(shard.state()).isEqualTo(before);
        assertThat(shard.store.cancel(KEY, List.of(target("a", "on"))))
                .as("a part of the incarnation")
                .containsExactly(OTHER_INCARNATION);
        assertThat(shard.store.cancel(KEY, List.of(target("a", "one")))).containsExactly(APPLIED);
    }

    private static Target target(String id, @Nullable String life) {
        return new Target(id, life == null ? null : frame(life));
    }
}
