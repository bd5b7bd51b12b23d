package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.at;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Replacement.Outcome;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many bytes the commands of a script copy inside Redis, where everything else waits meanwhile. */
class LargeBodyScriptTests {

    private static final int MEGABYTE = 1 << 20;

    private static final String COPIED = "test:copied";

    /** In front of each script: counts its commands, and the bytes of their replies. */
    private static final String COUNT =
            """
            local function bytes_of(reply)
              if type(reply) == 'string' then return #reply end
              local sum = 0
              if type(reply) == 'table' then
                for _, part in ipairs(reply) do sum = sum + bytes_of(part) end
              end
              return sum
            end
            local function counted(name, reply)
              redis.call('HINCRBY', '%1$s', 'bytes', string.format('%%d', bytes_of(reply)))
              redis.call('HINCRBY', '%1$s', name, '1')
              return reply
            end
            local function counted_call(name, ...) return counted(name, redis.call(name, ...)) end
            local function counted_pcall(name, ...) return counted(name, redis.pcall(name, ...)) end
            """
                    .formatted(COPIED);

    private final TestShard shard = new TestShard(script -> COUNT
            + TestShard.withTestClock(script)
                    .replaceAll("redis\\.call\\((?!'LRANGE', 'test:clock')", "counted_call(")
                    .replace("redis.pcall(", "counted_pcall("));

    @AfterEach
    void close() {
        shard.empty();
        shard.close();
    }

    /** Messages that are due, without a transfer of their bodies. */
    private void due(int from, int count, int size) {
        for (int i = from; i < from + count; i++) {
            shard.seed("ZADD waiting " + (100 + i) + " m" + i + "\nSETRANGE m:m" + i + " " + (size - 1) + " x");
        }
    }

    private List<Delivery> claim(long request, int bytes) {
        shard.redis().command("DEL", COPIED);
        return shard.store
                .claim(KEY, new Claim("o", request, 100, 100, Duration.ofSeconds(30), bytes, List.of()))
                .deliveries();
    }

    private long counted(String what) {
        Object count = shard.redis().command("HGET", COPIED, what);
        return count instanceof byte[] digits ? Long.parseLong(new String(digits, UTF_8)) : 0;
    }

    /** Whether the settings have the mark for large bodies. */
    private boolean isNoted() {
        return Long.valueOf(1).equals(shard.redis().command("HEXISTS", "dq:{t:0}:settings", "large"));
    }

    @Test
    void claimsAndRepeatsWithoutReadingLargeBodies() {
        due(0, 100, MEGABYTE);
        shard.seed("HSET settings large 1");

        List<Delivery> first = claim(1, Claim.MOST_BYTES);
        assertThat(counted("bytes")).isLessThan(10_000);

        assertThat(first).extracting(Delivery::id).containsExactly("m0", "m1", "m2", "m3");
        assertThat(first)
                .allMatch(delivery ->
                        delivery.unread() == MEGABYTE && delivery.frame().length() == 0);
        for (int bytes = Claim.MOST_BYTES / 2; bytes >= 1 << 12; bytes /= 2) {
            assertThat(claim(1, bytes)).isEqualTo(first);
            assertThat(counted("bytes")).isLessThan(10_000);
        }
        assertThat(claim(2, Claim.MOST_BYTES)).extracting(Delivery::id).containsExactly("m4", "m5", "m6", "m7");
    }

    @Test
    void readsOnlyBodiesThatAreHandedOutWhereTheFirstAreSmall() {
        due(0, 20, 100);
        due(20, 80, MEGABYTE);
        shard.seed("HSET settings large 1");

        assertThat(claim(1, Claim.MOST_BYTES))
                .hasSize(23)
                .filteredOn(delivery -> delivery.unread() == 0)
                .hasSize(20)
                .allMatch(delivery -> delivery.frame().length() == 100);

        assertThat(counted("bytes")).isLessThan(15_000);
        assertThat(counted("MGET")).as("the last claim, and bodies").isEqualTo(2);
    }

    @Test
    void readsAFewLargeBodiesOfAnEarlierVersionOnceOnly() {
        due(0, 100, MEGABYTE);

        assertThat(claim(1, Claim.MOST_BYTES)).hasSize(4);
        assertThat(counted("bytes")).isLessThan(9L * MEGABYTE);

        assertThat(claim(2, Claim.MOST_BYTES)).hasSize(4);
        assertThat(counted("bytes")).isLessThan(10_000);
    }

    /** The first claim finds eight small bodies, and copies all others. */
    @Test
    void readsLargeBodiesBehindSmallOnesOfAnEarlierVersionOnceOnly() {
        due(0, 8, 100);
        due(8, 92, MEGABYTE);

        assertThat(claim(1, Claim.MOST_BYTES)).hasSize(11);
        assertThat(counted("bytes")).isGreaterThan(90L * MEGABYTE);

        assertThat(claim(2, Claim.MOST_BYTES)).hasSize(4);
        assertThat(counted("bytes")).isLessThan(10_000);
    }

    /** As before there were large ones. */
    @Test
    void readsSmallBodiesWithTwoCommands() {
        due(0, 100, 140);

        assertThat(claim(1, Claim.MOST_BYTES)).hasSize(100);

        assertThat(counted("MGET")).as("the last claim, and bodies").isEqualTo(3);
        assertThat(counted("STRLEN")).isZero();
        assertThat(isNoted()).isFalse();
    }

    @Test
    void handsOutAMissingBodyAndOneOfAnotherTypeAsEmpty() {
        shard.seed(
                """
                HSET settings large 1
                ZADD waiting 900 a 901 b 902 c
                SET m:a one
                RPUSH m:c other""");

        assertThat(claim(1, Claim.MOST_BYTES))
                .extracting(
                        Delivery::id, delivery -> new String(delivery.frame().array(), UTF_8))
                .containsExactly(tuple("a", "one"), tuple("b", ""), tuple("c", ""));
    }

    @Test
    void notesTheFirstLargeBody() {
        shard.store.send(KEY, List.of(at("small", 5000, "x".repeat(8191))));
        assertThat(isNoted()).isFalse();

        shard.store.send(KEY, List.of(at("a", 5000, "x"), at("large", 5000, "x".repeat(8192))));

        assertThat(isNoted()).isTrue();
    }

    @Test
    void notesALargeReplacement() {
        shard.seed("""
                ZADD dead 700 a
                SET m:a 12345678old""");

        shard.store.replace(KEY, new DeadLetterRef("a", ms(700)), Bytes.NONE, frame("x".repeat(8192)));

        assertThat(isNoted()).isTrue();
    }

    @Test
    void readsNoLargeBodyToFindOrReplaceAMessageOrToMeetADuplicate() {
        due(0, 100, MEGABYTE);
        shard.seed("ZADD dead 700 d\nSETRANGE m:d " + MEGABYTE + " x");
        shard.redis().command("DEL", COPIED);

        List<NewMessage> again = IntStream.range(0, 100)
                .mapToObj(i -> at("m" + i, 5000, "other"))
                .toList();
        assertThat(shard.store.send(KEY, again)).containsOnly(SendOutcome.DUPLICATE);
        assertThat(shard.store.replace(KEY, new DeadLetterRef("d", ms(700)), frame("another"), frame("new")))
                .isEqualTo(Outcome.OTHER_INCARNATION);
        assertThat(shard.store.replace(KEY, new DeadLetterRef("d", ms(700)), Bytes.NONE, frame("new")))
                .isEqualTo(Outcome.REPLACED);
        assertThat(counted("bytes")).isLessThan(10_000);

        assertThat(shard.store.find(KEY, "m0").orElseThrow().size()).isEqualTo(MEGABYTE);
        assertThat(counted("bytes")).as("read once, in pieces").isBetween((long) MEGABYTE, MEGABYTE + 20_000L);
    }
}
