package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.claim;
import static io.easykit.delayqueue.redis.TestShard.in;
import static io.easykit.delayqueue.redis.TestShard.leases;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RepairScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    private List<Repaired> sweep() {
        List<Repaired> pages = new ArrayList<>();
        for (String at = Repaired.BEGIN;
                !at.isEmpty();
                at = pages.get(pages.size() - 1).next()) {
            pages.add(shard.store.repair(KEY, at));
        }
        return pages;
    }

    private List<String> countersSet() {
        return sweep().stream().flatMap(page -> page.counters().stream()).toList();
    }

    @Test
    void aShardWithNothingToRepairIsLookedAtInOneCall() {
        shard.store.send(KEY, List.of(in("a", 0, "one"), in("b", 500, "two")));
        shard.store.claim(KEY, claim("o", 1, 1, 300));

        assertThat(sweep()).containsExactly(new Repaired("", List.of(), 0, List.of()));
    }

    /** HSCAN of a large, sparse hash returns empty pages. */
    @ParameterizedTest
    @CsvSource({Repaired.BEGIN + ",errors:0", "errors:0,counters:0", "held:0,parked:0"})
    void aCallEndsAfterSomePagesAlsoIfTheyAreEmpty(String begin, String next) {
        Arguments ofTen = new Arguments().add(begin).add(10);

        Repaired page = Replies.repaired(shard.store.scripts.list(QueueScript.REPAIR, KEY, ofTen));

        assertThat(page.next()).isEqualTo(next);
    }

    @Test
    void allElseIsRepairedAndReportedBeforeErrorsOfAnotherTypeAreRefused() {
        shard.seed("HSET state a 5:1:0:0:900:o\nSET m:a one\nSET errors x\nHSET held k ~~k~ended\nSET count:sent x");

        Repaired first = shard.store.repair(KEY, Repaired.BEGIN);
        assertThat(first.putBack()).containsExactly("a");
        Repaired second = shard.store.repair(KEY, first.next());
        assertThat(second.leftovers()).isEqualTo(1);
        assertThat(shard.state()).doesNotContain("held");
        Repaired third = shard.store.repair(KEY, second.next());
        assertThat(third.counters()).containsExactly("sent");
        assertThatThrownBy(() -> shard.store.repair(KEY, third.next())).hasMessageContaining("WRONGTYPE");
    }

    @Test
    void putsBackWhatIsInNoPlaceAndRemovesWhatIsLeftOfEndedMessages() {
        shard.seed(
                """
                ZADD waiting 1500 a
                SET m:a one
                SET m:b two
                SET m:c three
                HSET state b 5:1:0:0:900:o c garbage d 6:0:0:0:810:p
                HSET errors Fb 1:o:x Lb 1:o:x Fe 1:o:x
                SET count:sent 3""");

        List<Repaired> pages = sweep();

        assertThat(pages.get(0).putBack()).containsExactlyInAnyOrder("b", "c");
        assertThat(pages).extracting(Repaired::leftovers).containsExactly(1L, 1L, 0L);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:sent 3
                errors Fb=1:o:x, Lb=1:o:x
                m:a one
                m:b two
                m:c three
                state b=5:1:0:0:900:o, c=garbage
                waiting b=900, c=1000, a=1500""");
        assertThat(sweep())
                .allSatisfy(page -> assertThat(page).isEqualTo(new Repaired(page.next(), List.of(), 0, List.of())));
    }

    @Test
    void looksAtAllPagesOfALargeShard() {
        IntStream.range(0, 30).forEach(i -> {
            shard.store.send(
                    KEY,
                    IntStream.range(0, 100)
                            .mapToObj(j -> in(i + "-" + j, 0, "x"))
                            .toList());
            shard.store.claim(KEY, claim("o", i + 1, 100, 30_000));
        });
        shard.redis().command("DEL", "dq:{t:0}:inflight");

        List<Repaired> pages = sweep();

        assertThat(pages).hasSizeGreaterThan(10);
        assertThat(pages.stream().mapToInt(page -> page.putBack().size()).sum()).isEqualTo(3000);
        assertThat(shard.store.stats(KEY).waiting()).isEqualTo(3000);
        assertThat(shard.store.stats(KEY).imbalance()).isZero();
    }

    @Test
    void setsCountersThatAreNoNumbersToWhatTheMessagesSay() {
        shard.seed(
                """
                ZADD waiting 1500 a
                SET m:a one
                SET count:sent 5
                SET count:acknowledged x
                SET count:cancelled 1
                SET count:lost y""");

        assertThat(countersSet()).containsExactly("acknowledged", "lost");
        assertThat(shard.state()).contains("count:acknowledged 3\ncount:cancelled 1\ncount:lost 0\ncount:sent 5");

        shard.seed("DEL count:sent");
        assertThat(countersSet()).containsExactly("sent");
        assertThat(shard.store.stats(KEY).imbalance()).isZero();
    }

    @Test
    void setsCountersOfAnotherTypeToWhatTheMessagesSay() {
        shard.seed(
                """
                ZADD waiting 1500 a
                SET m:a one
                SET count:sent 3
                RPUSH count:acknowledged x
                RPUSH count:dead x""");

        assertThat(countersSet()).containsExactly("acknowledged", "dead");
        assertThat(shard.state()).contains("count:acknowledged 2\ncount:dead 0\ncount:sent 3");

        shard.seed("DEL count:sent\nRPUSH count:sent x");
        assertThat(countersSet()).containsExactly("sent");
        assertThat(shard.state()).contains("count:sent 3");
    }

    @Test
    void balancesTheLedgerWhereCallsCouldNotBeCounted() {
        shard.seed("SET count:sent x");
        shard.store.send(KEY, List.of(in("a", 0, "one"), in("b", 0, "two")));
        shard.store.acknowledge(
                KEY,
                shard.store.claim(KEY, claim("o", 1, 1, 300)).deliveries().stream()
                        .map(delivery -> delivery.lease())
                        .toList());
        shard.seed("SET count:sent 7\nSET count:acknowledged 7");

        assertThat(countersSet()).containsExactly("sent");
        assertThat(shard.store.stats(KEY).imbalance()).isZero();
        assertThat(shard.state()).doesNotContain("miscounted");
    }

    @Test
    void leavesAnHonestImbalanceAlone() {
        shard.seed("SET count:sent 5\nSET count:acknowledged 3");

        assertThat(sweep()).allSatisfy(page -> assertThat(page.counters()).isEmpty());
        assertThat(shard.store.stats(KEY).imbalance()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"5, 3, acknowledged", "2, 3, sent"})
    void balancesAnImbalanceThatAnOperatorHasAccepted(int sent, int acknowledged, String set) {
        shard.seed(
                "SET count:sent " + sent + "\nSET count:acknowledged " + acknowledged + "\nHSET settings miscounted 1");

        assertThat(countersSet()).containsExactly(set);
        assertThat(shard.store.stats(KEY).imbalance()).isZero();
        assertThat(shard.state()).doesNotContain("miscounted");
    }

    @Test
    void endsALeaseThatIsImpossiblyLong() {
        shard.seed(
                """
                ZADD inflight inf a
                SET m:a one
                HSET state a 5:0:0:0:800:o""");

        sweep();

        assertThat(shard.store.reap(KEY, 10, 3, Duration.ZERO).lost()).hasSize(1);
    }

    @Test
    void aMessageInTwoPlacesCountsAsInFlightAndItsSettlementRemovesItFromAll() {
        String twice =
                """
                ZADD waiting 900 a
                ZADD inflight 1500 a
                ZADD dead 700 a
                SET m:a one
                HSET state a 5:0:0:0:800:o
                SET count:sent 1""";
        shard.seed(twice);

        assertThat(shard.store.find(KEY, "a").orElseThrow().state().name()).isEqualTo("IN_FLIGHT");
        assertThat(shard.store.claim(KEY, claim("p", 1, 10, 300)).deliveries()).isEmpty();
        assertThat(shard.store.purge(KEY, Duration.ZERO, 10)).isZero();
        assertThat(shard.state()).contains("inflight a=1500").contains("waiting a=1500");
        assertThat(shard.store.acknowledge(KEY, leases("a", 5))).containsExactly(Settlement.APPLIED);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:acknowledged 1
                count:sent 1
                settings number=1000000""");
    }

    @Test
    void aSendPutsBackTheMessageThatItMeetsWithoutAPlace() {
        shard.seed("SET m:a one\nSET m:b other\nRPUSH m:c garbage");

        assertThat(shard.store.send(KEY, List.of(in("a", 500, "one"), in("b", 600, "two"), in("c", 700, "three"))))
                .containsExactly(SendOutcome.REPLAYED, SendOutcome.DUPLICATE, SendOutcome.STORED);
        assertThat(shard.state())
                .isEqualTo(
                        """
                count:sent 1
                m:a one
                m:b other
                m:c three
                waiting a=1500, b=1600, c=1700""");
    }

    @Test
    void numbersGoOnFromTheClockWhereTheLastOneIsUnreadable() {
        for (String garbage : List.of("x", "99999999999999999999", "1e400", "-7")) {
            shard.seed("ZADD waiting 900 a\nSET m:a one\nHSET settings number " + garbage);
            assertThat(shard.store
                            .claim(KEY, claim("o" + garbage.length(), 1, 1, 300))
                            .deliveries())
                    .as(garbage)
                    .singleElement()
                    .satisfies(delivery -> assertThat(delivery.number()).isEqualTo(1_000_000));
            shard.seed("DEL inflight\nDEL state");
        }
    }
}
