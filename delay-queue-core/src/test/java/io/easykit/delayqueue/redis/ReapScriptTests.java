package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.LostLease;
import io.easykit.delayqueue.store.Reaped;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReapScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void givesExpiredOnesBackAndBuriesTheOneThatWasLostTooOften() {
        shard.seed(
                """
                ZADD inflight 999 a 1000 b 1001 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:1:0:0:800:o b 6:0:2:0:810:p c 7:0:0:0:820:p""");

        assertThat(shard.store.reap(KEY, 10, 3, Duration.ZERO))
                .isEqualTo(new Reaped(
                        ms(1000),
                        ms(1001),
                        List.of(
                                new LostLease(new Lease("a", 5), "o", 1, false),
                                new LostLease(new Lease("b", 6), "p", 3, true))));
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:dead 1
                count:lost 2
                dead b=1000
                errors Fb=1000:p:LEASE_LOST, Lb=1000:p:LEASE_LOST
                inflight c=1001
                m:a one
                m:b two
                m:c three
                state a=5:1:1:0:800:o, b=6:0:3:0:810:p, c=7:0:0:0:820:p
                waiting a=800""");
    }

    @Test
    void takesNoMoreThanAskedForAndDelaysThem() {
        shard.seed(
                """
                ZADD inflight 990 a 991 b
                SET m:a one
                SET m:b two
                HSET state a 5:0:0:0:800:o b 6:0:0:0:810:p""");

        assertThat(shard.store.reap(KEY, 1, 3, Duration.ofMillis(70)).nextLeaseEnd())
                .isEqualTo(ms(991));
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:lost 1
                inflight b=991
                m:a one
                m:b two
                state a=5:0:1:0:1070:o, b=6:0:0:0:810:p
                waiting a=1070""");
    }

    /** Their holders renew them once they have seen that the clock has stepped ahead. */
    @Test
    void takesNoLeaseThatEndsAfterTheGivenTimeAlthoughItIsOver() {
        String state =
                """
                inflight a=990, b=991, c=1001
                m:a one
                m:b two
                m:c three
                state a=5:1:0:0:800:o, b=6:0:0:0:810:p, c=7:0:0:0:820:p""";
        shard.seed(
                """
                ZADD inflight 990 a 991 b 1001 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state a 5:1:0:0:800:o b 6:0:0:0:810:p c 7:0:0:0:820:p""");

        assertThat(reap(ms(989))).isEqualTo(new Reaped(ms(1000), ms(990), List.of()));
        assertThat(shard.state()).isEqualTo(state);
        assertThat(reap(ms(990)))
                .isEqualTo(new Reaped(ms(1000), ms(991), List.of(new LostLease(new Lease("a", 5), "o", 1, false))));
        assertThat(reap(ms(2000)).nextLeaseEnd()).isEqualTo(ms(1001));
    }

    private Reaped reap(Instant until) {
        return shard.store.reap(KEY, 10, 3, Duration.ZERO, DeadKeyPolicy.STOP, until);
    }

    @Test
    void beginsAStateAnewThatSomebodyDeleted() {
        shard.seed("""
                ZADD inflight 990 a
                SET m:a one""");

        assertThat(shard.store.reap(KEY, 1, 3, Duration.ZERO).lost())
                .containsExactly(new LostLease(new Lease("a", 0), "", 1, false));
        assertThat(shard.state()).contains("waiting a=1000").contains("state a=0:0:1:0:1000:");
    }

    @Test
    void takesADelayThatIsTooLongForTheLongest() {
        shard.seed(
                """
                ZADD inflight 990 a
                SET m:a one
                HSET state a 5:0:0:0:800:o""");

        assertThat(shard.store.reap(KEY, 10, 3, Duration.ofDays(9_999_999_999L)).lost())
                .hasSize(1);
        assertThat(shard.state()).contains("waiting a=86400000001000");
    }

    /** Each was due again after its death, and the redrive could not remove it from the dead. */
    @Test
    void losesMessagesThatWereHalfRedrivenLikeOthers() {
        shard.seed(
                """
                ZADD inflight 990 a 991 b
                ZADD dead 900.5 a 900 b
                MSET m:a one
                MSET m:b two
                HSET state a 5:0:0:0:950:o b 6:0:1:0:950:o""");

        assertThat(shard.store.reap(KEY, 10, 2, Duration.ZERO).lost()).hasSize(2);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:dead 1
                count:lost 2
                dead b=1000
                errors Fb=1000:o:LEASE_LOST, Lb=1000:o:LEASE_LOST
                m:a one
                m:b two
                state a=5:0:1:0:950:o, b=6:0:2:0:950:o
                waiting a=950""");
    }

    @Test
    void finishesAMoveThatStoppedHalfWayAtNoCost() {
        shard.seed(
                """
                ZADD inflight 990 a 991 b
                ZADD waiting 1200 a
                ZADD dead 900 b
                MSET m:a one
                MSET m:b two
                HSET state a 5:1:0:0:1200:o b 6:2:0:0:800:o""");

        assertThat(shard.store.reap(KEY, 10, 1, Duration.ZERO)).isEqualTo(new Reaped(ms(1000), null, List.of()));
        assertThat(shard.state())
                .isEqualTo(
                        """
                dead b=900
                m:a one
                m:b two
                state a=5:1:0:0:1200:o, b=6:2:0:0:800:o
                waiting a=1200""");
    }

    @Test
    void writesNothingWhenNoLeaseHasEnded() {
        assertThat(shard.store.reap(KEY, 10, 3, Duration.ZERO)).isEqualTo(new Reaped(ms(1000), null, List.of()));
        assertThat(shard.state()).isEmpty();
    }

    /** Each one once. Other expired leases stay, like messages that another consumer has by now or that are not in flight. */
    @Test
    void losesBeforeTheEndOfTheirLeasesOnlyWhatIsGivenUp() {
        shard.seed(
                """
                ZADD inflight 999 a 5000 b 5000 c 5000 d
                ZADD waiting 700 w
                MSET m:a one
                MSET m:b two
                MSET m:c three
                MSET m:d four
                MSET m:w five
                HSET state a 5:1:0:0:800:o b 6:0:2:0:810:p c 7:0:0:0:820:p d 9:0:0:0:830:q w 3:0:0:0:700:p""");

        assertThat(shard.store.giveUp(
                        KEY,
                        List.of(
                                new Lease("b", 6),
                                new Lease("c", 7),
                                new Lease("c", 7),
                                new Lease("d", 8),
                                new Lease("w", 3),
                                new Lease("x", 1)),
                        3,
                        Duration.ofMillis(100)))
                .isEqualTo(new Reaped(
                        ms(1000),
                        ms(999),
                        List.of(
                                new LostLease(new Lease("b", 6), "p", 3, true),
                                new LostLease(new Lease("c", 7), "p", 1, false))));
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:dead 1
                count:lost 2
                dead b=1000
                errors Fb=1000:p:LEASE_LOST, Lb=1000:p:LEASE_LOST
                inflight a=999, d=5000
                m:a one
                m:b two
                m:c three
                m:d four
                m:w five
                state a=5:1:0:0:800:o, b=6:0:3:0:810:p, c=7:0:1:0:1100:p, d=9:0:0:0:830:q, w=3:0:0:0:700:p
                waiting w=700, c=1100""");
    }

    @Test
    void losesNothingWhereNothingGivenUpIsHeldAnyMore() {
        shard.seed(
                """
                ZADD inflight 999 a
                SET m:a one
                HSET state a 5:1:0:0:800:o""");

        assertThat(shard.store
                        .giveUp(KEY, List.of(new Lease("a", 4)), 3, Duration.ZERO)
                        .lost())
                .isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> shard.store.giveUp(KEY, List.of(), 3, Duration.ZERO));
    }
}
