package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.SendOutcome.DUPLICATE;
import static io.easykit.delayqueue.SendOutcome.REPLAYED;
import static io.easykit.delayqueue.SendOutcome.STORED;
import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.at;
import static io.easykit.delayqueue.redis.TestShard.in;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.easykit.redis.LuaScript;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class SendScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void storesBodiesAndDueTimesAndCountsThem() {
        assertThat(shard.store.send(KEY, List.of(in("a", 500, "one"), at("b", 1200, "two"))))
                .containsExactly(STORED, STORED);

        assertThat(shard.state())
                .isEqualTo(
                        """
                count:sent 2
                m:a one
                m:b two
                waiting b=1200, a=1500""");
    }

    @Test
    void roundsTheDueTimeOfADelayUp() {
        shard.clockMicros(1_000_001);

        shard.store.send(KEY, List.of(in("a", 0, "one")));

        assertThat(shard.state()).contains("waiting a=1001");
    }

    @Test
    void wakesConsumersForATimeThatHasPassedInThisMillisecond() {
        shard.seed("ZADD waiting 1001 a");
        shard.clockMicros(1_000_500);
        shard.redis().command("CONFIG", "RESETSTAT");

        shard.store.send(KEY, List.of(at("b", 1000, "one")));

        assertThat(publishes(shard)).isOne();
    }

    @ParameterizedTest
    @CsvSource({
        "'', 1500, 1",
        "ZADD waiting 1600 b, 1500, 1",
        "ZADD waiting 1400 b, 1500, 0",
        "ZADD waiting 1500 b, 1500, 0", // a is the first of the two
        "ZADD waiting 999 b, 998, 0", // both are due
        "ZADD waiting 1001 b, 998, 1"
    })
    void wakesConsumersForTheFirstMessageOnly(String waiting, long due, int wakeups) {
        shard.seed(waiting);
        shard.redis().command("CONFIG", "RESETSTAT");

        shard.store.send(KEY, List.of(at("a", due, "one")));

        assertThat(publishes(shard)).isEqualTo(wakeups);
    }

    @Test
    void wakesConsumersIfItCannotKnowWhetherAMessageIsTheFirst() {
        UnaryOperator<String> denied =
                script -> TestShard.withTestClock(script).replace("try('ZRANK', waiting, id)", "{err = 'NOPERM'}");
        try (TestShard shard = new TestShard(denied)) {
            shard.seed("ZADD waiting 1400 b");
            shard.redis().command("CONFIG", "RESETSTAT");

            shard.store.send(KEY, List.of(at("a", 1500, "one")));

            assertThat(publishes(shard)).isOne();
        }
    }

    private static long publishes(TestShard shard) {
        String stat = shard.redis().info("commandstats").getOrDefault("cmdstat_publish", "calls=0,");
        return Long.parseLong(stat.replaceAll("calls=(\\d+),.*", "$1"));
    }

    /** The first part of the script leaves all of them to the second, which refuses them. */
    @ParameterizedTest
    @MethodSource
    void refusesArgumentsThatCannotBe(List<String> arguments, String error) {
        LuaScript script = LuaScript.read(RedisQueueStore.class, "send.lua", TestShard::withTestClock);
        String before = shard.state();
        List<String> call = new ArrayList<>(List.of("EVAL", script.text(), "2", "dq:{t:0}:", "dq:{t:0}:settings"));
        call.addAll(arguments);

        assertThatThrownBy(() -> shard.redis().command(call.toArray(String[]::new)))
                .hasMessageContaining(error);
        assertThat(shard.state()).isEqualTo(before);
    }

    static Stream<Arguments> refusesArgumentsThatCannotBe() {
        Stream<Arguments> groups = Stream.of(1, 2, 4, 3 * 101)
                .map(count -> arguments(Collections.nCopies(count, "1"), "incomplete group of arguments"));
        Stream<Arguments> times = Stream.of(
                        "", "+", "soon", "-5", "1e5", "10.5", "0x10", " 1000", "1".repeat(16), "+" + "1".repeat(16))
                .flatMap(time -> Stream.of(
                        arguments(List.of("a", time, "one"), "not a time: " + time),
                        arguments(List.of("a", "1000", "one", "b", time, "two"), "not a time: " + time)));
        return Stream.concat(groups, times);
    }

    @Test
    void leavesALiveIdAloneAndTellsItsOwnReplayFromSomebodyElsesMessage() {
        shard.seed(
                """
                ZADD waiting 5000 a
                SET m:a one
                SET count:sent 1""");
        String before = shard.state();

        assertThat(shard.store.send(KEY, List.of(in("a", 1, "one"), in("a", 1, "other"))))
                .containsExactly(REPLAYED, DUPLICATE);
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void storesARepeatedIdOfOneBatchOnce() {
        assertThat(shard.store.send(KEY, List.of(in("a", 1, "one"), in("a", 2, "two"))))
                .containsExactly(STORED, DUPLICATE);

        assertThat(shard.state())
                .isEqualTo("""
                count:sent 1
                m:a one
                waiting a=1001""");
    }
}
