package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.claim;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static io.easykit.delayqueue.store.ClaimStatus.CLAIMED;
import static io.easykit.delayqueue.store.ClaimStatus.OUTDATED;
import static io.easykit.delayqueue.store.ClaimStatus.PAUSED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClaimScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void handsOutWhatIsDueInOrderAndTellsWhatComesNext() {
        shard.seed(
                """
                ZADD waiting 1000 b 900 a 1001 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                SET count:sent 3""");

        Claimed claimed = shard.store.claim(KEY, claim("o", 1, 10, 300));

        assertThat(claimed)
                .isEqualTo(new Claimed(
                        ms(1000),
                        CLAIMED,
                        ms(1001),
                        ms(1300),
                        List.of(),
                        List.of(
                                new Delivery("a", 1_000_000, ms(900), 0, 0, 0, frame("one")),
                                new Delivery("b", 1_000_001, ms(1000), 0, 0, 0, frame("two")))));
        assertThat(shard.state())
                .isEqualTo(
                        """
                claim:o expires
                count:sent 3
                inflight a=1300, b=1300
                m:a one
                m:b two
                m:c three
                settings number=1000001
                state a=1000000:0:0:0:900:o, b=1000001:0:0:0:1000:o
                waiting c=1001""");
    }

    @Test
    void doesNotHandOutAFractionOfAMillisecondEarly() {
        shard.seed("""
                ZADD waiting 1001 a
                SET m:a one""");
        shard.clockMicros(1_000_999);

        assertThat(shard.store.claim(KEY, claim("o", 1, 10, 300)).deliveries()).isEmpty();
    }

    @Test
    void writesNothingWhenNothingIsDue() {
        assertThat(shard.store.claim(KEY, claim("o", 1, 10, 300)))
                .isEqualTo(new Claimed(ms(1000), CLAIMED, null, null, List.of(), List.of()));
        assertThat(shard.state()).isEmpty();
    }

    @Test
    void takesNoMoreThanAskedForAndKeepsTheCountsOfEarlierDeliveries() {
        shard.seed(
                """
                ZADD waiting 900 a 901 b
                SET m:a one
                SET m:b two
                HSET state a 5:1:2:3:800:x
                HSET settings number 2000000""");

        Claimed claimed = shard.store.claim(KEY, claim("o", 1, 1, 300));

        assertThat(claimed.deliveries()).containsExactly(new Delivery("a", 2_000_001, ms(900), 1, 2, 3, frame("one")));
        assertThat(claimed.nextDue()).isEqualTo(ms(901));
        assertThat(shard.state())
                .isEqualTo(
                        """
                claim:o expires
                inflight a=1300
                m:a one
                m:b two
                settings number=2000001
                state a=2000001:1:2:3:900:o
                waiting b=901""");
    }

    @Test
    void handsOutFewerBesideAMessageThatHasLostALease() {
        shard.seed(
                """
                ZADD waiting 900 a 901 b 902 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state c 5:0:1:0:800:x""");

        Claimed claimed = shard.store.claim(KEY, new Claim("o", 1, 3, 2, Duration.ofMillis(300), List.of()));
        Claimed nothing = shard.store.claim(KEY, new Claim("o", 2, 3, 0, Duration.ofMillis(300), List.of()));

        assertThat(claimed.deliveries()).extracting(Delivery::id).containsExactly("a", "b");
        assertThat(nothing.deliveries()).isEmpty();
        assertThat(nothing.nextDue()).isEqualTo(ms(902));
        assertThat(shard.store
                        .claim(KEY, new Claim("o", 3, 3, 1, Duration.ofMillis(300), List.of()))
                        .deliveries())
                .containsExactly(new Delivery("c", 1_000_002, ms(902), 0, 1, 0, frame("three")));
    }

    @Test
    void answersTheSameRequestWithTheSameHandOutAndARenewedLease() {
        shard.seed(
                """
                ZADD waiting 900 a 901 b
                SET m:a one
                SET m:b two""");
        Claimed first = shard.store.claim(KEY, claim("o", 7, 1, 300));
        shard.clock(1100);

        Claimed again = shard.store.claim(KEY, claim("o", 7, 1, 300));

        assertThat(again.deliveries()).isEqualTo(first.deliveries());
        assertThat(shard.state())
                .isEqualTo(
                        """
                claim:o expires
                inflight a=1400
                m:a one
                m:b two
                settings number=1000000
                state a=1000000:0:0:0:900:o
                waiting b=901""");
    }

    @Test
    void leavesOutOfARepeatedAnswerWhatHasChangedHands() {
        shard.seed(
                """
                ZADD waiting 900 a 901 b
                SET m:a one
                SET m:b two""");
        shard.store.claim(KEY, claim("o", 7, 2, 300));
        shard.seed("HSET state a 9000000:0:1:0:900:other");

        assertThat(shard.store.claim(KEY, claim("o", 7, 2, 300)).deliveries())
                .extracting(Delivery::id)
                .containsExactly("b");
    }

    @Test
    void handsOutNothingToARequestThatALaterOneHasOvertaken() {
        shard.seed(
                """
                ZADD waiting 900 a 901 b
                SET m:a one
                SET m:b two""");
        shard.store.claim(KEY, claim("o", 7, 1, 300));
        String before = shard.state();

        Claimed late = shard.store.claim(KEY, claim("o", 6, 1, 300));

        assertThat(late).isEqualTo(new Claimed(ms(1000), OUTDATED, ms(901), ms(1300), List.of(), List.of()));
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void acknowledgesInTheSameTripAlsoWhenPaused() {
        shard.seed(
                """
                ZADD waiting 900 b
                ZADD inflight 1500 a
                SET m:a one
                SET m:b two
                HSET state a 5:0:0:0:800:o
                HSET settings paused 1""");

        Claimed claimed = shard.store.claim(KEY, claim("o", 1, 1, 300, new Lease("a", 5), new Lease("a", 5)));

        assertThat(claimed)
                .isEqualTo(new Claimed(
                        ms(1000), PAUSED, null, null, List.of(Settlement.APPLIED, Settlement.STALE), List.of()));
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:acknowledged 1
                m:b two
                settings paused=1
                waiting b=900""");
    }

    @Test
    void handsOutAnEmptyFrameForABodyThatSomebodyDeleted() {
        shard.seed("""
                ZADD waiting 900 a 901 b
                SET m:b two""");

        assertThat(shard.store.claim(KEY, claim("o", 1, 10, 300)).deliveries())
                .extracting(Delivery::id, Delivery::frame)
                .containsExactly(tuple("a", frame("")), tuple("b", frame("two")));
        assertThat(shard.state())
                .isEqualTo(
                        """
                claim:o expires
                inflight a=1300, b=1300
                m:a
                m:b two
                settings number=1000001
                state a=1000000:0:0:0:900:o, b=1000001:0:0:0:901:o""");
    }

    private static Claim claimOf(long request, int bytes) {
        return new Claim("o", request, 10, 10, Duration.ofMillis(300), bytes, List.of());
    }

    @Test
    void handsOutAsManyBodiesAsFitAndOfALargeOneTheLength() {
        shard.seed(
                """
                ZADD waiting 900 a 901 b 902 c 903 d
                MSET m:a 12345
                MSET m:b 123456
                MSET m:c 1234
                MSET m:d 12345
                SET count:sent 4""");

        assertThat(shard.store.claim(KEY, claimOf(1, 10)).deliveries())
                .containsExactly(
                        new Delivery("a", 1_000_000, ms(900), 0, 0, 0, Bytes.NONE, 5),
                        new Delivery("b", 1_000_001, ms(901), 0, 0, 0, Bytes.NONE, 6),
                        new Delivery("c", 1_000_002, ms(902), 0, 0, 0, Bytes.NONE, 4),
                        new Delivery("d", 1_000_003, ms(903), 0, 0, 0, Bytes.NONE, 5));
        assertThat(shard.store.claim(KEY, claimOf(1, 23)).deliveries())
                .containsExactly(
                        new Delivery("a", 1_000_000, ms(900), 0, 0, 0, frame("12345")),
                        new Delivery("b", 1_000_001, ms(901), 0, 0, 0, Bytes.NONE, 6),
                        new Delivery("c", 1_000_002, ms(902), 0, 0, 0, frame("1234")),
                        new Delivery("d", 1_000_003, ms(903), 0, 0, 0, frame("12345")));
    }

    @Test
    void leavesWhatDoesNotFitToTheNextClaim() {
        shard.seed(bodies(20, 100));

        assertThat(shard.store.claim(KEY, claimOf(1, 450)).deliveries()).hasSize(4);
        assertThat(shard.store.claim(KEY, claimOf(2, 450)).deliveries()).hasSize(4);
        assertThat(shard.store.claim(KEY, claimOf(3, 10_000)).deliveries()).hasSize(10);
        assertThat(shard.state()).contains("inflight").contains("waiting m18=918, m19=919");
    }

    /** The reply was too large for the line: messages left out of the smaller one wait again, at no cost. */
    @Test
    void handsOutLessAtARepetitionWithFewerBytesAndLetsTheRestWait() {
        shard.seed(bodies(8, 10));
        assertThat(shard.store.claim(KEY, claimOf(1, 1_000)).deliveries()).hasSize(8);

        assertThat(shard.store.claim(KEY, claimOf(1, 45)).deliveries())
                .extracting(Delivery::id)
                .containsExactly("m0", "m1", "m2", "m3");
        assertThat(shard.state())
                .contains("inflight m0=1300, m1=1300, m2=1300, m3=1300\n")
                .contains("waiting m4=904, m5=905, m6=906, m7=907")
                .contains("m4=1000004:0:0:0:904:o");
        assertThat(shard.store.claim(KEY, claimOf(1, 1_000)).deliveries()).hasSize(4);
        assertThat(shard.store.claim(KEY, claimOf(2, 1_000)).deliveries())
                .extracting(Delivery::id)
                .containsExactly("m4", "m5", "m6", "m7");
    }

    private static String bodies(int count, int size) {
        StringBuilder seed = new StringBuilder("SET count:sent " + count);
        for (int i = 0; i < count; i++) {
            seed.append("\nZADD waiting ").append(900 + i).append(" m").append(i);
            seed.append("\nSET m:m").append(i).append(' ').append("x".repeat(size));
        }
        return seed.toString();
    }
}
