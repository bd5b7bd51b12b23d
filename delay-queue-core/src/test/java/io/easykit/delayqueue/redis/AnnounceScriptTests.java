package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AnnounceScriptTests {

    private static final DeadLetterRef A = new DeadLetterRef("a", ms(700));

    private final TestShard shard = new TestShard();

    @BeforeEach
    void seed() {
        shard.seed(
                """
                ZADD dead 700 a 700 b 800 c
                SET m:a A
                SET m:b B
                SET m:c C
                HSET state a 5:3:1:2:600:o""");
    }

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void marksTheDeathThatIsMeantAndNothingElse() {
        assertThat(shard.store.announced(
                        KEY, List.of(A, new DeadLetterRef("c", ms(801)), new DeadLetterRef("x", ms(700)))))
                .containsExactly(true, false, false);

        assertThat(shard.state())
                .isEqualTo(
                        """
                        dead b=700, a=700.5, c=800
                        m:a A
                        m:b B
                        m:c C
                        state a=5:3:1:2:600:o""");
        String after = shard.state();
        assertThat(shard.store.announced(KEY, List.of(A))).as("a repetition").containsExactly(false);
        assertThat(shard.store.announced(KEY, List.of())).isEmpty();
        assertThat(shard.state()).isEqualTo(after);
    }

    @Test
    void showsWhichDeathsAreNotAnnounced() {
        shard.store.announced(KEY, List.of(A));

        assertThat(shard.store.errors(KEY, null, 10).entries())
                .filteredOn(DeadLetterErrors.Entry::isUnannounced)
                .extracting(entry -> entry.position().id())
                .containsExactly("b", "c");
        assertThat(shard.store.errors(KEY, null, 10).entries())
                .extracting(DeadLetterErrors.Entry::diedAt)
                .containsExactly(ms(700), ms(700), ms(800));
        DeadLetterErrors first = shard.store.errors(KEY, null, 2);
        assertThat(shard.store
                        .errors(KEY, first.entries().get(1).position(), 10)
                        .entries())
                .as("the page behind a marked one")
                .extracting(entry -> entry.position().id())
                .containsExactly("c");
    }

    @Test
    void leavesAMarkedDeadLetterToItsOtherMoves() {
        shard.store.announced(KEY, List.of(A, new DeadLetterRef("b", ms(700)), new DeadLetterRef("c", ms(800))));

        assertThat(shard.store.find(KEY, "a").orElseThrow().at()).isEqualTo(ms(700));
        assertThat(shard.store.redrive(KEY, List.of(A))).containsExactly(true);
        assertThat(shard.store.purge(KEY, List.of(new DeadLetterRef("b", ms(700)))))
                .containsExactly(true);
        assertThat(shard.store.purge(KEY, Duration.ofMillis(1), 10)).isEqualTo(1);
        assertThat(shard.store.stats(KEY).dead()).isZero();
    }

    @Test
    void hasNoMarkForALaterDeath() {
        shard.store.announced(KEY, List.of(A));
        shard.store.redrive(KEY, List.of(A));
        shard.seed(
                """
                ZREM waiting a
                ZADD inflight 5000 a
                HSET state a 9:0:0:0:600:o""");
        shard.store.fail(KEY, List.of(new Failure(new Lease("a", 9), null, "again")));

        assertThat(shard.store.errors(KEY, null, 10).entries())
                .filteredOn(DeadLetterErrors.Entry::isUnannounced)
                .extracting(entry -> entry.position().id())
                .contains("a");
    }

    @Test
    void leavesTimesThatWereWrittenByHand() {
        shard.seed("ZADD dead 700.25 a inf b 1e300 c");
        String before = shard.state();

        assertThat(shard.store.errors(KEY, null, 10).entries()).noneMatch(DeadLetterErrors.Entry::isUnannounced);
        assertThat(shard.store.announced(KEY, List.of(A, new DeadLetterRef("b", ms(700)))))
                .containsExactly(false, false);
        assertThat(shard.state()).isEqualTo(before);
    }
}
