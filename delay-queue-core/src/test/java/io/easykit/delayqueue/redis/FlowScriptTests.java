package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.claim;
import static io.easykit.delayqueue.redis.TestShard.in;
import static io.easykit.delayqueue.redis.TestShard.leases;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.Borrowed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.ClaimStatus;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.Lent;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The clock of the shard stands at 1000 ms. */
class FlowScriptTests {

    /** Ten a second, of which three at once. */
    private static final FlowShare TEN = new FlowShare(100_000, 3, 0);

    private static final FlowShare TWO_PLACES = new FlowShare(0, 0, 2);

    private final TestShard shard = new TestShard();
    private int sent;

    @AfterEach
    void close() {
        shard.close();
    }

    private void send(int count) {
        List<NewMessage> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(in("m%03d".formatted(sent++), 0, "body"));
        }
        for (int from = 0; from < count; from += 100) {
            shard.store.send(KEY, messages.subList(from, Math.min(count, from + 100)));
        }
    }

    private Claimed claimed(String owner, long request, FlowShare share, Lease... done) {
        return shard.store.claim(KEY, claim(owner, request, 10, 500, done).under(share));
    }

    private static List<String> ids(Claimed claimed) {
        return claimed.deliveries().stream().map(Delivery::id).toList();
    }

    private String flow() {
        return shard.state().lines().filter(line -> line.startsWith("flow")).collect(joining("\n"));
    }

    @Test
    void aClaimTakesAsManyAsThereArePermitsAndNamesTheTimeOfTheNext() {
        send(5);

        Claimed first = claimed("o", 1, TEN);

        assertThat(ids(first)).containsExactly("m000", "m001", "m002");
        assertThat(first).returns(ClaimStatus.THROTTLED, Claimed::status).returns(ms(1100), Claimed::nextDue);
        assertThat(shard.state())
                .isEqualTo(
                        """
                claim:o expires
                count:sent 5
                flow 0:1000000:0:100000:3:0 EXPIRES
                inflight m000=1500, m001=1500, m002=1500
                m:m000 body
                m:m001 body
                m:m002 body
                m:m003 body
                m:m004 body
                settings number=1000002
                state m000=1000000:0:0:0:1000:o, m001=1000001:0:0:0:1000:o, m002=1000002:0:0:0:1000:o
                waiting m003=1000, m004=1000""");

        String before = shard.state();
        assertThat(claimed("p", 1, TEN))
                .isEqualTo(new Claimed(ms(1000), ClaimStatus.THROTTLED, ms(1100), ms(1500), List.of(), List.of()));
        assertThat(shard.state()).isEqualTo(before);

        shard.clock(1100);
        assertThat(ids(claimed("p", 2, TEN))).containsExactly("m003");
        shard.clock(9000);
        assertThat(claimed("p", 3, TEN))
                .returns(List.of("m004"), FlowScriptTests::ids)
                .returns(ClaimStatus.CLAIMED, Claimed::status)
                .returns(null, Claimed::nextDue);
        assertThat(flow()).startsWith("flow 2000000:9000000:");
    }

    @Test
    void aShardLendsWhatItHasSavedUpUnlessAMessageIsDue() {
        assertThat(shard.store.lend(KEY, TEN, 2)).isEqualTo(new Lent(ms(1000), 2, ms(1000)));
        assertThat(shard.state()).isEqualTo("flow 1000000:1000000:0:100000:3:0 EXPIRES");

        assertThat(shard.store.lend(KEY, TEN, 5)).isEqualTo(new Lent(ms(1000), 1, ms(1100)));
        String before = shard.state();
        assertThat(before).isEqualTo("flow 0:1000000:0:100000:3:0 EXPIRES");
        assertThat(shard.store.lend(KEY, TEN, 5)).isEqualTo(new Lent(ms(1000), 0, ms(1100)));
        assertThat(shard.state()).isEqualTo(before);

        shard.clock(2000);
        send(1);
        before = shard.state();
        assertThat(shard.store.lend(KEY, TEN, 5)).isEqualTo(new Lent(ms(2000), 0, null));
        assertThat(shard.state()).isEqualTo(before);
        assertThat(ids(claimed("o", 1, TEN))).containsExactly("m000");
        assertThat(shard.store.lend(KEY, TEN, 5).permits()).isEqualTo(2);
    }

    @Test
    void aClaimUsesTheBorrowedPermitsFirstAndARepetitionUsesNone() {
        send(6);
        Claim claim = claim("o", 1, 10, 500).under(TEN).with(new Borrowed(2, 1100));

        Claimed first = shard.store.claim(KEY, claim);

        assertThat(ids(first)).containsExactly("m000", "m001", "m002", "m003", "m004");
        assertThat(first).returns(ClaimStatus.THROTTLED, Claimed::status).returns(ms(1100), Claimed::nextDue);
        assertThat(flow()).isEqualTo("flow 0:1000000:0:100000:3:0 EXPIRES");
        assertThat(shard.store.claim(KEY, claim)).isEqualTo(first);
        assertThat(flow()).isEqualTo("flow 0:1000000:0:100000:3:0 EXPIRES");
        assertThat(ids(claimed("o", 2, TEN)))
                .as("the next claim has none of them")
                .isEmpty();
    }

    @Test
    void borrowedPermitsOfAFewMessagesLeaveThoseOfTheShard() {
        send(2);
        shard.store.claim(KEY, claim("o", 1, 10, 500).under(TEN).with(new Borrowed(4, 1000)));

        assertThat(flow()).isEqualTo("flow 3000000:1000000:0:100000:3:0 EXPIRES");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 999, 1101, 5000})
    void borrowedPermitsLapseAndAreNotOfALaterTime(long until) {
        send(6);

        assertThat(ids(shard.store.claim(KEY, claim("o", 1, 10, 500).under(TEN).with(new Borrowed(2, until)))))
                .hasSize(3);
    }

    @Test
    void aRepetitionInPartGivesNoBorrowedPermitsBack() {
        send(6);
        Claim claim = claim("o", 1, 10, 500).under(TEN).with(new Borrowed(3, 1100));
        assertThat(ids(shard.store.claim(KEY, claim))).hasSize(6);

        assertThat(ids(shard.store.claim(KEY, claim.within(8)))).hasSize(4);

        assertThat(flow()).startsWith("flow 2000000:1000000:");
    }

    @Test
    void aRepeatedClaimTakesNoPermitsTwiceAndGivesThoseBackThatItHandsOutNoMore() {
        List<NewMessage> messages = IntStream.range(0, 3)
                .mapToObj(i -> in("m" + i, 0, "x".repeat(100)))
                .toList();
        shard.store.send(KEY, messages);
        Claim lost = claim("o", 1, 10, 500).under(TEN);
        shard.store.claim(KEY, lost);

        assertThat(ids(shard.store.claim(KEY, lost))).hasSize(3);
        assertThat(flow()).startsWith("flow 0:1000000:0:");
        assertThat(shard.store.claim(KEY, lost.within(50)).deliveries()).hasSize(3); // they count as a quarter each

        shard.redis().command("DEL", "dq:{t:0}:flow");
        shard.store.send(
                KEY,
                IntStream.range(0, 9)
                        .mapToObj(i -> in("n" + i, 0, "x".repeat(60)))
                        .toList());
        FlowShare nine = new FlowShare(100_000, 9, 0);
        Claim large = claim("p", 1, 10, 500).under(nine);
        assertThat(ids(shard.store.claim(KEY, large))).hasSize(9);
        assertThat(ids(shard.store.claim(KEY, large.within(250)))).hasSize(4);
        assertThat(flow()).startsWith("flow 5000000:1000000:0:");
    }

    @Test
    void aPlaceIsFreeWhenItsMessageIsSettledOrItsLeaseIsReaped() {
        send(4);
        Claimed first = claimed("o", 1, TWO_PLACES);
        assertThat(ids(first)).containsExactly("m000", "m001");
        assertThat(first).returns(ClaimStatus.FULL, Claimed::status).returns(null, Claimed::nextDue);
        assertThat(ids(claimed("p", 1, TWO_PLACES))).isEmpty();

        assertThat(ids(claimed("o", 2, TWO_PLACES, leases("m000", 1_000_000).get(0))))
                .containsExactly("m002");

        shard.clock(1500);
        assertThat(claimed("p", 2, TWO_PLACES))
                .returns(List.of(), FlowScriptTests::ids)
                .returns(ms(1500), Claimed::nextLeaseEnd);
        shard.store.reap(KEY, 10, 5, Duration.ZERO);
        assertThat(ids(claimed("p", 3, TWO_PLACES))).containsExactly("m001", "m002");
    }

    /** Only if one waits for it: a claim that leaves a place free is the usual case. */
    @Test
    void aClaimThatLeavesAPlaceFreeWakesThoseThatWaitForOne() {
        send(5);
        claimed("o", 1, TWO_PLACES);
        claimed("p", 1, TWO_PLACES);
        assertThat(flow()).startsWith("flow 0:1000000:1:");
        shard.store.acknowledge(KEY, leases("m000", 1_000_000, "m001", 1_000_001));

        assertThat(commandsOf(() -> take("o", 2, "m002"))).containsEntry("publish", 1);
        assertThat(flow()).startsWith("flow 0:1000000:0:");
        shard.store.acknowledge(KEY, leases("m002", 1_000_002));
        assertThat(commandsOf(() -> take("o", 3, "m003"))).doesNotContainKey("publish");
    }

    private void take(String owner, long request, String expected) {
        Claim one = claim(owner, request, 1, 500).under(TWO_PLACES);
        assertThat(ids(shard.store.claim(KEY, one))).containsExactly(expected);
    }

    @Test
    void aClockThatStepsBackDelaysNoPermitForLonger() {
        send(9);
        shard.clock(3_600_000);
        assertThat(ids(claimed("o", 1, TEN))).hasSize(3);

        shard.clock(1000);
        assertThat(claimed("o", 2, TEN)).returns(ms(1100), Claimed::nextDue);
        shard.clock(1100);
        assertThat(ids(claimed("o", 3, TEN))).hasSize(1);
    }

    /** Never more than the larger limits allow: the bucket counts permits, not times. */
    @Test
    void nodesWithDifferentLimitsShareTheBucket() {
        send(500);
        FlowShare five = new FlowShare(200_000, 5, 0);
        int all = 0;
        for (int i = 0; i < 200; i++) {
            shard.clock(1000 + 50 * i);
            all += ids(claimed("o", i + 1, i % 2 == 0 ? TEN : five)).size();
        }

        assertThat(all).isBetween(50, 5 + 100); // in ten seconds
    }

    @Test
    void garbageCountsAsAFullBucketAndIsReplaced() {
        for (String garbage : List.of("x", "1:2", "9".repeat(400) + ":" + "9".repeat(400) + ":1:", "-1:0:0:")) {
            shard.empty();
            send(4);
            shard.redis().command("SET", "dq:{t:0}:flow", garbage);
            assertThat(ids(claimed("o", 1, TEN))).hasSize(3);
            assertThat(flow()).endsWith("100000:3:0 EXPIRES");
        }
        shard.empty();
        send(4);
        shard.seed("HSET flow a b");
        assertThat(shard.store.stats(KEY).flow()).isNull();
        assertThat(ids(claimed("o", 1, TEN))).hasSize(3);
    }

    @Test
    void aFullRedisDrainsWithinTheLimits() {
        send(4);
        shard.redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThat(ids(claimed("o", 1, new FlowShare(100_000, 1, 1)))).containsExactly("m000");
            assertThat(claimed("p", 1, new FlowShare(0, 0, 1))).returns(ClaimStatus.FULL, Claimed::status);
            assertThat(flow()).startsWith("flow 0:1000000:1:");
        } finally {
            shard.redis().command("CONFIG", "SET", "maxmemory", "0");
        }
    }

    @Test
    void statisticsShowTheLimitsAndWhetherTheyKeepMessages() {
        send(4);
        assertThat(shard.store.stats(KEY)).returns(null, ShardStats::flow).returns(false, ShardStats::limited);
        claimed("o", 1, TEN);

        assertThat(shard.store.stats(KEY))
                .returns(new ShardStats.Flow(Duration.ofMillis(100), 3, 0, 0, ms(1000)), ShardStats::flow)
                .returns(true, ShardStats::limited);
        shard.clock(1250);
        assertThat(shard.store.stats(KEY))
                .returns(new ShardStats.Flow(Duration.ofMillis(100), 3, 2, 0, ms(1000)), ShardStats::flow)
                .returns(false, ShardStats::limited);
        claimed("o", 2, new FlowShare(100_000, 3, 4));
        assertThat(shard.store.stats(KEY).flow())
                .isEqualTo(new ShardStats.Flow(Duration.ofMillis(100), 3, 1, 4, ms(1250)));
        send(1);
        assertThat(shard.store.stats(KEY).limited()).isTrue();
    }

    /** A topic without limits pays nothing: OrderingScriptTests counts its commands. */
    @Test
    void limitsCostAClaimTwoCommandsMoreForTheRateAndTwoForThePlaces() {
        send(4);
        claimed("o", 1, FlowShare.NONE);
        send(2);
        Map<String, Integer> without = commandsOf(() -> claimed("o", 2, FlowShare.NONE));
        send(2);
        Map<String, Integer> with = commandsOf(() -> claimed("o", 3, new FlowShare(100_000, 3, 90)));

        without.forEach((command, calls) -> with.merge(command, -calls, Integer::sum));
        with.values().removeIf(calls -> calls == 0);
        assertThat(with).isEqualTo(Map.of("mget", 1, "set", 1, "zcard", 2));
    }

    private Map<String, Integer> commandsOf(Runnable call) {
        shard.redis().command("CONFIG", "RESETSTAT");
        call.run();
        Map<String, Integer> calls = new TreeMap<>();
        shard.redis().info("commandstats").forEach((name, line) -> {
            if (!name.matches("cmdstat_(info|config|eval|script|lrange|hello|client|ping).*")) {
                calls.put(name.substring(8), Integer.parseInt(line.replaceAll("calls=(\\d+),.*", "$1")));
            }
        });
        return calls;
    }

    /** The longest step that settings can lead to: more than 1,000 days. */
    @Test
    void theLowestRateOnTheMostShardsLetsAMessageThroughAfterEachStep() {
        FlowShare share = FlowShare.of(
                FlowLimits.of(FlowLimits.Rate.of(1, Duration.ofDays(1))), ShardKey.MAX_SHARDS - 1, ShardKey.MAX_SHARDS);
        long step = share.stepMicros();
        Instant next = Instant.ofEpochMilli((1_000_000 + step) / 1000);
        send(3);
        assertThat(ids(claimed("o", 1, share))).containsExactly("m000");
        assertThat(claimed("o", 2, share))
                .returns(List.of(), FlowScriptTests::ids)
                .returns(next, Claimed::nextDue);

        shard.clockMicros(1_000_000 + step - 1);
        assertThat(ids(claimed("o", 3, share))).isEmpty();
        shard.clockMicros(1_000_000 + step);
        assertThat(ids(claimed("o", 4, share))).containsExactly("m001");

        shard.empty();
        assertThat(shard.store.lend(KEY, share, 1)).isEqualTo(new Lent(ms(1000), 1, next));
    }
}
