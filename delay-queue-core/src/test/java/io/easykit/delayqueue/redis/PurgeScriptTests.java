package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.admin.DeadLetterRef;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PurgeScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void removesEverythingOfTheMeantDeaths() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:3:1:2:600:o b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa 1:o:x La 1:o:y""");

        assertThat(shard.store.purge(
                        KEY,
                        List.of(
                                new DeadLetterRef("a", ms(700)),
                                new DeadLetterRef("a", ms(700)),
                                new DeadLetterRef("b", ms(801)))))
                .containsExactly(true, false, false);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:purged 1
                dead b=800, c=900
                m:b two
                m:c three
                state b=6:0:3:0:810:p, c=7:1:0:0:820:p""");
    }

    @Test
    void removesTheOldestOfAnAge() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:3:1:2:600:o b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa 1:o:x La 1:o:y""");

        assertThat(shard.store.purge(KEY, Duration.ofMillis(200), 1)).isEqualTo(1);
        assertThat(shard.store.purge(KEY, Duration.ofMillis(200), 10)).isEqualTo(1);
        assertThat(shard.store.purge(KEY, Duration.ofMillis(200), 10)).isZero();
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:purged 2
                dead c=900
                m:c three
                state c=7:1:0:0:820:p""");
    }

    /** A server whose clock is ahead has taken over. */
    @Test
    void keepsLettersThatAreOldByOneClockOnly() {
        long now = System.currentTimeMillis();
        Duration day = Duration.ofDays(1);
        shard.seed("ZADD dead " + (now - day.toMillis() - 1000) + " old " + now + " young");
        shard.clock(now + 8 * day.toMillis());

        assertThat(shard.store.purge(KEY, day, 10)).isEqualTo(1);
        assertThat(shard.state()).contains("young=" + now).doesNotContain("old");
    }

    @Test
    void removesAllWithoutAnAgeWhateverTheClocksSay() {
        long ahead = System.currentTimeMillis() + Duration.ofDays(1).toMillis();
        shard.seed("ZADD dead 700 a " + ahead + " b");

        assertThat(shard.store.purge(KEY, Duration.ZERO, 10)).isEqualTo(2);
    }

    @Test
    void doesNotPurgeWhatIsNotDead() {
        shard.seed("""
                ZADD waiting 700 a
                SET m:a one""");
        String before = shard.state();

        assertThat(shard.store.purge(KEY, List.of(new DeadLetterRef("a", ms(700)))))
                .containsExactly(false);
        assertThat(shard.state()).isEqualTo(before);
    }
}
