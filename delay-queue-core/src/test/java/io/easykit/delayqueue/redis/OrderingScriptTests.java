package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.claim;
import static io.easykit.delayqueue.redis.TestShard.in;
import static io.easykit.delayqueue.redis.TestShard.leases;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.StoppedKeys;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The states of ordering keys. A parked message has its due time and 2^52 as its score. */
class OrderingScriptTests {

    private static final long PARKED = 1L << 52;

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    private List<String> claimed(String owner, long request, int count) {
        return shard.store.claim(KEY, claim(owner, request, count, 500)).deliveries().stream()
                .map(Delivery::id)
                .toList();
    }

    /** Lines of the state but those of bodies, counters, settings and claims. */
    private String places() {
        return shard.state()
                .lines()
                .filter(line -> !line.matches("(m:|count:|settings|claim:|errors).*"))
                .collect(joining("\n"));
    }

    @Test
    void aClaimHandsOutOneMessageOfAKeyAndParksTheOthers() {
        shard.seed(
                """
                ZADD waiting 800 ~~k~a 810 ~~k~b 820 c 830 ~~l~d 840 ~~k~e 5000 ~~k~f
                SET m:~~k~a x
                SET m:~~k~b x
                SET m:c x
                SET m:~~l~d x""");

        assertThat(claimed("o", 1, 3)).containsExactly("~~k~a", "c", "~~l~d");
        assertThat(places())
                .isEqualTo(
                        """
                held k=~~k~a, l=~~l~d
                inflight c=1500, ~~k~a=1500, ~~l~d=1500
                parked:k ~~k~b=810
                state c=1000001:0:0:0:820:o, ~~k~a=1000000:0:0:0:800:o, ~~l~d=1000002:0:0:0:830:o
                waiting ~~k~e=840, ~~k~f=5000, ~~k~b=%d"""
                                .formatted(PARKED + 810));
        assertThat(claimed("p", 1, 3)).isEmpty();
        assertThat(shard.store.stats(KEY)).returns(2L, ShardStats::parked).returns(0L, ShardStats::due);
        assertThat(shard.store.find(KEY, "~~k~b").orElseThrow())
                .returns(ms(810), message -> message.at())
                .returns(State.WAITING, message -> message.state());
    }

    @Test
    void theEndOfAMessageMakesTheNextOneOfItsKeyDue() {
        shard.store.send(KEY, List.of(in("~~k~c", 2, "3"), in("~~k~b", 1, "2"), in("~~k~a", 1, "1")));
        shard.clock(1010);
        claimed("o", 1, 10);

        shard.store.acknowledge(KEY, leases("~~k~a", 1_010_000));

        assertThat(places()).isEqualTo("parked:k ~~k~c=1002\nwaiting ~~k~b=1001, ~~k~c=%d".formatted(PARKED + 1002));
        assertThat(claimed("o", 2, 10)).containsExactly("~~k~b");
        assertThat(shard.store
                        .claim(
                                KEY,
                                claim(
                                        "o",
                                        3,
                                        10,
                                        500,
                                        leases("~~k~b", 1_010_001).get(0)))
                        .deliveries())
                .extracting(Delivery::id)
                .containsExactly("~~k~c");
        shard.store.acknowledge(KEY, leases("~~k~c", 1_010_002));
        assertThat(places()).isEmpty();
    }

    @Test
    void aRetryHoldsItsKeyAndADeathStopsOrSkipsIt() {
        shard.store.send(KEY, List.of(in("~~k~a", 0, "1"), in("~~k~b", 0, "2")));
        claimed("o", 1, 1);
        shard.store.fail(KEY, List.of(failure(1_000_000, Duration.ofMillis(100), DeadKeyPolicy.STOP)));

        assertThat(claimed("o", 2, 10)).isEmpty();
        shard.clock(1200);
        assertThat(claimed("o", 3, 10)).containsExactly("~~k~a");

        shard.store.fail(KEY, List.of(failure(1_200_000, null, DeadKeyPolicy.STOP)));
        assertThat(claimed("o", 4, 10)).isEmpty();
        StoppedKey stopped = new StoppedKey("k", "~~k~a", ms(1200), 1);
        assertThat(shard.store.stoppedKeys(KEY, StoppedKeys.BEGIN)).isEqualTo(new StoppedKeys("", List.of(stopped)));
        assertThat(shard.store.stats(KEY).stoppedKeys()).isEqualTo(1);

        assertThat(shard.store.freeKey(KEY, "k", "~~k~b")).isFalse();
        assertThat(shard.store.freeKey(KEY, "k", "~~k~a")).isTrue();
        assertThat(shard.store.freeKey(KEY, "k", "~~k~a")).isFalse();
        assertThat(claimed("o", 5, 10)).containsExactly("~~k~b");
        assertThat(shard.store.stats(KEY).stoppedKeys()).isZero();
    }

    private static Failure failure(long number, Duration retryAfter, DeadKeyPolicy policy) {
        return new Failure(leases("~~k~a", number).get(0), retryAfter, "no", policy);
    }

    @Test
    void aDeathThatSkipsItsKeyFreesIt() {
        shard.store.send(KEY, List.of(in("~~k~a", 0, "1"), in("~~k~b", 0, "2")));
        claimed("o", 1, 10);

        shard.store.fail(KEY, List.of(failure(1_000_000, null, DeadKeyPolicy.SKIP)));

        assertThat(places())
                .contains("waiting ~~k~b=1000")
                .doesNotContain("held")
                .doesNotContain("parked");
        assertThat(claimed("o", 2, 10)).containsExactly("~~k~b");
    }

    @Test
    void aLostLeaseHoldsItsKey() {
        shard.store.send(KEY, List.of(in("~~k~a", 0, "1"), in("~~k~b", 0, "2")));
        claimed("o", 1, 10);
        shard.clock(2000);
        assertThat(claimed("p", 1, 10)).isEmpty();

        shard.store.reap(KEY, 10, 5, Duration.ZERO);

        assertThat(claimed("p", 2, 10)).containsExactly("~~k~a");
        shard.clock(3000);
        shard.store.reap(KEY, 10, 2, Duration.ZERO, DeadKeyPolicy.SKIP, QueueStore.ANY_END);
        assertThat(claimed("p", 3, 10)).containsExactly("~~k~b");
    }

    @Test
    void cancelAndRescheduleOfTheFirstLeaveNoneParkedBehindNobody() {
        shard.seed(
                """
                ZADD waiting 800 ~~k~a %d ~~k~b %d ~~k~c %d ~~k~d
                ZADD parked:k 810 ~~k~b 820 ~~k~c 830 ~~k~d
                SET m:~~k~a x
                SET m:~~k~b x
                SET m:~~k~c x
                SET m:~~k~d x"""
                        .formatted(PARKED + 810, PARKED + 820, PARKED + 830));

        shard.store.cancel(KEY, List.of(new Target("~~k~a", null), new Target("~~k~b", null)));
        assertThat(places()).isEqualTo("parked:k ~~k~d=830\nwaiting ~~k~c=820, ~~k~d=%d".formatted(PARKED + 830));

        shard.store.reschedule(
                KEY, List.of(new Reschedule(new Target("~~k~c", null), DueTime.after(Duration.ofSeconds(9)))));
        assertThat(places()).isEqualTo("waiting ~~k~d=830, ~~k~c=10000");
    }

    /** More than a claim parks at once. */
    @Test
    void aLongQueueOfOneKeyLetsOthersPass() {
        IntStream.range(0, 7)
                .forEach(i -> shard.store.send(
                        KEY,
                        IntStream.range(0, 100)
                                .mapToObj(j -> in("~~k~%03d".formatted(100 * i + j), 0, "x"))
                                .toList()));
        shard.store.send(KEY, List.of(in("~~l~a", 1, "x"), in("plain", 1, "x")));
        shard.clock(1100);

        assertThat(claimed("o", 1, 1)).containsExactly("~~k~000");
        assertThat(claimed("o", 2, 1)).isEmpty();
        assertThat(claimed("o", 3, 2)).containsExactly("plain", "~~l~a");
        assertThat(shard.store.stats(KEY).parked()).isEqualTo(699);
    }

    @Test
    void theSweepFreesKeysOfEndedHoldersAndMendsTheListsOfParkedMessages() {
        shard.seed(
                """
                HSET held k ~~k~gone l ~~l~a
                HSET state ~~l~a 5:0:0:0:800:o
                ZADD inflight 1500 ~~l~a
                ZADD waiting %d ~~k~b %d ~~l~b
                ZADD parked:k 810 ~~k~b
                SET m:~~k~b x
                SET m:~~l~a x
                SET m:~~l~b x"""
                        .formatted(PARKED + 810, PARKED + 820));

        for (String at = Repaired.BEGIN;
                !at.isEmpty();
                at = shard.store.repair(KEY, at).next()) {}

        assertThat(places())
                .isEqualTo(
                        """
                held l=~~l~a
                inflight ~~l~a=1500
                parked:l ~~l~b=820
                state ~~l~a=5:0:0:0:800:o
                waiting ~~k~b=810, ~~l~b=%d"""
                                .formatted(PARKED + 820));
    }

    /** Keys of another type hold up no message without an ordering key, and lose none with one. */
    @Test
    void aDamagedListOfParkedMessagesLosesNothing() {
        shard.seed("SET parked:k garbage");
        shard.store.send(KEY, List.of(in("~~k~a", 0, "1"), in("~~k~b", 0, "2"), in("c", 0, "3")));

        assertThat(claimed("o", 1, 10)).containsExactly("c", "~~k~a");
        shard.store.acknowledge(KEY, leases("~~k~a", 1_000_001));
        assertThat(claimed("o", 2, 10)).containsExactly("~~k~b");
    }

    @Test
    void aFullRedisDrainsAndRefusesAChangeOfTheDueTimeAsAWhole() {
        shard.store.send(
                KEY,
                List.of(
                        in("~~k~a", 0, "1"),
                        in("~~k~b", 0, "2"),
                        in("~~k~c", 0, "3"),
                        in("~~k~d", 0, "4"),
                        in("~~k~e", 0, "5")));
        claimed("o", 1, 10);
        shard.redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            String before = places();
            Reschedule later = new Reschedule(new Target("~~k~b", null), DueTime.after(Duration.ofSeconds(9)));
            assertThatThrownBy(() -> shard.store.reschedule(KEY, List.of(later)))
                    .isInstanceOf(StoreFullException.class);
            assertThat(places()).isEqualTo(before);

            assertThat(shard.store.acknowledge(KEY, leases("~~k~a", 1_000_000))).containsExactly(Settlement.APPLIED);
            assertThat(claimed("o", 2, 10)).containsExactly("~~k~b");
            shard.store.claim(
                    KEY, claim("o", 3, 10, 500, leases("~~k~b", 1_000_001).get(0)));
            shard.store.fail(KEY, List.of(new Failure(leases("~~k~c", 1_000_002).get(0), null, "no")));
            assertThat(shard.store.freeKey(KEY, "k", "~~k~c")).isTrue();
            assertThat(shard.store.cancel(KEY, List.of(new Target("~~k~d", null))))
                    .containsExactly(ChangeOutcome.APPLIED);
            assertThat(shard.store.purge(KEY, Duration.ZERO, 10)).isEqualTo(1);
            assertThat(claimed("o", 4, 10)).containsExactly("~~k~e");
        } finally {
            shard.redis().command("CONFIG", "SET", "maxmemory", "0");
        }
    }

    /** What a message without an ordering key costs must not grow. */
    @Test
    void messagesWithoutAKeyCostNotOneCommandMore() {
        shard.store.send(KEY, List.of(in("warm", 0, "x")));
        shard.store.claim(KEY, claim("o", 1, 10, 500));
        shard.redis().command("CONFIG", "RESETSTAT");

        shard.store.send(KEY, List.of(in("a", 0, "x"), in("b", 0, "x")));
        shard.store.claim(KEY, claim("o", 2, 10, 500));
        shard.store.acknowledge(KEY, leases("a", 1_000_001, "b", 1_000_002));

        assertThat(shard.redis().info("commandstats").entrySet().stream()
                        .filter(line ->
                                !line.getKey().matches("cmdstat_(info|config|eval|script|lrange|hello|client|ping).*"))
                        .map(line -> line.getKey().substring(8) + " "
                                + line.getValue().replaceAll("calls=(\\d+),.*", "$1"))
                        .sorted())
                .containsExactly(
                        "exists 1",
                        "hdel 1",
                        "hmget 3",
                        "hset 2",
                        "incrby 2",
                        "mget 2",
                        "msetnx 1",
                        "publish 1",
                        "set 1",
                        "unlink 2",
                        "zadd 2",
                        "zcount 1",
                        "zmscore 1",
                        "zrange 2",
                        "zrangebyscore 1",
                        "zrem 3");
    }
}
