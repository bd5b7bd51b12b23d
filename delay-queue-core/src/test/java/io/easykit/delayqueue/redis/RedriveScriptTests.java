package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.DeadLetterRef;
import io.easykit.delayqueue.store.RedriveRate;
import io.easykit.delayqueue.store.RedrivenPage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedriveScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    private final RedriveRate pace = new RedriveRate(Duration.ofMillis(10), Duration.ofMillis(5));

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
                                new DeadLetterRef("d", ms(900))),
                        pace))
                .containsExactly(true, false, false, true, false);
        assertThat(shard.state())
                .isEqualTo(
                        """
                counters redriven=2
                dead b=800
                errors Fa=1:o:x, La=1:o:y
                m:a one
                m:b two
                m:c three
                state a=5:0:0:2:1010:o, b=6:0:3:0:810:p, c=7:0:0:0:1015:p
                waiting a=1010, c=1015""");
    }

    @Test
    void redrivesThePageOfTheOldestUpToTheCutOff() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:3:1:2:600:o b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa 1:o:x La 1:o:y""");

        assertThat(shard.store.redrive(KEY, ms(800), 10, pace)).isEqualTo(new RedrivenPage(ms(800), 2));
        assertThat(shard.state()).contains("dead c=900").contains("waiting a=1010, b=1015");
    }

    @Test
    void spreadsThemToFractionsOfAMillisecond() {
        shard.seed(
                """
                ZADD dead 700 a 701 b 702 c 703 d
                MSET m:a one
                MSET m:b two
                MSET m:c three
                MSET m:d four""");

        RedriveRate sixHundredASecond = new RedriveRate(Duration.ZERO, Duration.ofNanos(1_666_666));

        assertThat(shard.store.redrive(KEY, null, 10, sixHundredASecond).count())
                .isEqualTo(4);
        assertThat(shard.state()).contains("waiting a=1000, b=1001, c=1003, d=1004");
    }

    @Test
    void takesThePresentAsCutOffAndNoMoreThanAskedFor() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:3:1:2:600:o b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa 1:o:x La 1:o:y""");

        assertThat(shard.store.redrive(KEY, null, 1, RedriveRate.AT_ONCE)).isEqualTo(new RedrivenPage(ms(1000), 1));
        assertThat(shard.state()).contains("dead b=800, c=900").contains("waiting a=1000");
    }
}
