package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.admin.DeadLetterRef;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedriveScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void givesTheMeantDeathsFreshBudgetsAndKeepsNumberAndErrors() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:3:1:2:600:o b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa 1:o:x La 1:o:y""");

        assertThat(shard.store.redrive(
                        KEY,
                        List.of(
                                new DeadLetterRef("a", ms(700)),
                                new DeadLetterRef("a", ms(700)),
                                new DeadLetterRef("b", ms(799)),
                                new DeadLetterRef("c", ms(900)),
                                new DeadLetterRef("d", ms(900)))))
                .containsExactly(true, false, false, true, false);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:redriven 2
                dead b=800
                errors Fa=1:o:x, La=1:o:y
                m:a one
                m:b two
                m:c three
                state a=5:0:0:2:1000:o, b=6:0:3:0:810:p, c=7:0:0:0:1000:p
                waiting a=1000, c=1000""");
    }
}
