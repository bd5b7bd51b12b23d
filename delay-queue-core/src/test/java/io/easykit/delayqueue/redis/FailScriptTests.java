package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.store.Settlement.APPLIED;
import static io.easykit.delayqueue.store.Settlement.GONE;
import static io.easykit.delayqueue.store.Settlement.STALE;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FailScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void sendsBackToWaitOrToTheDeadAndKeepsFirstAndLastError() {
        shard.seed(
                """
                ZADD inflight 1500 a 1600 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p
                HSET errors Fa 1:o:old La 1:o:older""");
        shard.clockMicros(1_000_500);

        assertThat(shard.store.fail(
                        KEY,
                        List.of(
                                new Failure(new Lease("a", 5), Duration.ofMillis(50), "new"),
                                new Failure(new Lease("b", 6), null, "fatal"))))
                .containsExactly(APPLIED, APPLIED);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:dead 1
                count:failed 2
                dead b=1000
                errors Fa=1:o:old, Fb=1000:p:fatal, La=1000:o:new, Lb=1000:p:fatal
                m:a one
                m:b two
                state a=5:2:0:0:1051:o, b=6:1:0:0:810:p
                waiting a=1051""");
    }

    /** A redrive that stopped half way: the message is due after its death, runs, and dies again. */
    @Test
    void notesTheNextDeathOfAMessageThatWasHalfRedriven() {
        shard.seed(
                """
                ZADD inflight 1500 a
                ZADD dead 900.5 a
                SET m:a one
                HSET state a 5:0:0:0:950:o
                HSET errors Fa 1:o:old La 1:o:older""");

        assertThat(shard.store.fail(KEY, List.of(new Failure(new Lease("a", 5), null, "again"))))
                .containsExactly(APPLIED);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:dead 1
                count:failed 1
                dead a=1000
                errors Fa=1:o:old, La=1000:o:again
                m:a one
                state a=5:1:0:0:950:o""");
    }

    @Test
    void countsARepetitionOnce() {
        shard.seed(
                """
                ZADD inflight 1500 a 1600 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p""");
        Failure failure = new Failure(new Lease("a", 5), Duration.ofMillis(50), "x");

        assertThat(shard.store.fail(KEY, List.of(failure, failure))).containsExactly(APPLIED, STALE);
        String after = shard.state();

        assertThat(after).contains("count:failed 1").contains("a=5:2:0:0:1050:o");
        assertThat(shard.store.fail(KEY, List.of(failure))).containsExactly(STALE);
        assertThat(shard.state()).isEqualTo(after);
    }

    @Test
    void changesNothingUnderAnotherNumberOrAfterTheEnd() {
        shard.seed(
                """
                ZADD inflight 1500 a 1600 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p""");
        String before = shard.state();

        assertThat(shard.store.fail(
                        KEY,
                        List.of(new Failure(new Lease("a", 4), null, "x"), new Failure(new Lease("z", 5), null, "x"))))
                .containsExactly(STALE, GONE);
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void cutsALongError() {
        shard.seed(
                """
                ZADD inflight 1500 a 1600 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p""");

        shard.store.fail(KEY, List.of(new Failure(new Lease("b", 6), null, "e".repeat(5000))));

        assertThat(shard.state())
                .contains("Fb=1000:p:" + "e".repeat(4096) + ", Lb")
                .doesNotContain("e".repeat(4097));
    }
}
