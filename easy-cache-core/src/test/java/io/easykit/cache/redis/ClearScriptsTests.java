package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts of clearings, and the state after they fail half way. */
class ClearScriptsTests {

    private static final String KEY = "epochs";
    private static final long LIFE = 346_896_000_000L;
    private static final int MORE_CALLS_THAN_ANY = 12;

    @AutoClose
    private final RawRedis redis = RedisServer.shared().connect();

    private long now;

    @BeforeEach
    void empty() {
        RedisServer.shared().flush();
        List<?> time = (List<?>) redis.command("TIME");
        now = Long.parseLong(new String((byte[]) time.get(0), ISO_8859_1)) * 1000;
    }

    @Test
    void prepareWritesAClearingForEachPrefix() {
        redis.command("HSET", KEY, "user", "7", "::other:user", "1");

        assertThat(run(CacheScript.PREPARE_CLEAR, "user", "t", "30000", "order:v2", "t", "10000"))
                .isEqualTo(1L);

        SortedMap<String, String> state = state();
        assertThat(Long.parseLong(state.remove("::t:user"))).isBetween(now + 30_000, now + 90_000);
        assertThat(Long.parseLong(state.remove("::t:order:v2"))).isBetween(now + 10_000, now + 70_000);
        assertThat(state).isEqualTo(Map.of("user", "7", "::other:user", "1"));
        assertThat(life()).isBetween(LIFE - 1000, LIFE);
    }

    @Test
    void raiseRemovesTheClearingThatItEnds() {
        redis.command(
                "HSET",
                KEY,
                "user",
                "4000000000",
                "::t:user",
                "5",
                "::t:order",
                "6",
                "::other:user",
                "7",
                "::t2:user",
                "8");

        assertThat(run(CacheScript.RAISE_EPOCH, "user", "0", "t")).isEqualTo(List.of(4_000_000_001L));

        assertThat(state())
                .isEqualTo(Map.of("user", "4000000001", "::t:order", "6", "::other:user", "7", "::t2:user", "8"));
    }

    @Test
    void raiseWithoutATokenLeavesAllClearings() {
        redis.command("HSET", KEY, "user", "4000000000", "::t:user", "5");

        run(CacheScript.RAISE_EPOCH, "user", "0", "");

        assertThat(state()).isEqualTo(Map.of("user", "4000000001", "::t:user", "5"));
    }

    @Test
    void raisesOnAServerThatIsFull() {
        redis.command("HSET", KEY, "user", "4000000000", "::t:user", "5");
        redis.command("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThatThrownBy(() -> run(CacheScript.PREPARE_CLEAR, "user", "t", "30000"))
                    .hasMessageContaining("OOM");
            assertThat(run(CacheScript.RAISE_EPOCH, "user", "0", "t")).isEqualTo(List.of(4_000_000_001L));
            redis.command("CONFIG", "SET", "maxmemory", "0");
            redis.command("HSET", KEY, "::t:user", "5");
            redis.command("CONFIG", "SET", "maxmemory", "1");
            assertThat(run(CacheScript.END_EXPIRED_CLEARS, "user", "0")).isEqualTo(1L);
        } finally {
            redis.command("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(state()).isEqualTo(Map.of("user", "4000000002"));
    }

    @Test
    void endsWhatIsExpiredAndRaisesEachPrefixOnce() {
        String later = Long.toString(now + 600_000);
        redis.command("HSET", KEY, "user", "4000000000", "order", "4000000000", "stock", "4000000000");
        redis.command("HSET", KEY, "::a:user", "1", "::b:user", Long.toString(now), "::c:user", later);
        redis.command("HSET", KEY, "::a:order", later, "::a:stock", "1", "::a:v:2", "1");

        assertThat(run(CacheScript.END_EXPIRED_CLEARS, "user", "4000000005", "order", "0", "v:2", "4100000000"))
                .isEqualTo(3L);

        assertThat(state())
                .isEqualTo(Map.of(
                        "user",
                        "4000000006",
                        "order",
                        "4000000000",
                        "stock",
                        "4000000000",
                        "v:2",
                        "4100000001",
                        "::c:user",
                        later,
                        "::a:order",
                        later,
                        "::a:stock",
                        "1"));
        assertThat(life()).isBetween(LIFE - 1000, LIFE);
        assertThat(run(CacheScript.END_EXPIRED_CLEARS, "user", "0")).as("twice").isEqualTo(0L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "garbage", "-1", "nan", "1e300"})
    void takesAGarbledLeaseForAnEndedOne(String garbage) {
        redis.command("HSET", KEY, "::a:user", garbage);

        assertThat(run(CacheScript.END_EXPIRED_CLEARS, "user", "0")).isEqualTo(1L);

        assertThat(state()).containsOnlyKeys("user");
    }

    @Test
    void endsNothingWhereNothingIs() {
        assertThat(run(CacheScript.END_EXPIRED_CLEARS, "user", "0")).isEqualTo(0L);
        assertThat(life()).isEqualTo(-2);
    }

    // Half way

    private enum Seed {
        NOTHING(""),
        EPOCH("user 4000000000"),
        OWN("user 4000000000 ::t:user 99999999999999"),
        OWN_EXPIRED("user 4000000000 ::t:user 1"),
        OTHER("user 4000000000 ::other:user 99999999999999"),
        OTHER_EXPIRED("::other:user 1"),
        BOTH("user 4000000000 ::t:user 1 ::other:user 99999999999999");

        private final String fields;

        Seed(String fields) {
            this.fields = fields;
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = CacheScript.class,
            names = {"RAISE_EPOCH", "PREPARE_CLEAR", "END_EXPIRED_CLEARS"})
    void losesNoClearingWhenItFailsHalfWay(CacheScript script) {
        int failures = 0;
        for (Seed seed : Seed.values()) {
            for (int call = 1; call <= MORE_CALLS_THAN_ANY; call++) {
                failures += failsOn(script, seed, call) ? 1 : 0;
            }
        }
        assertThat(failures).as("scripts that failed half way").isGreaterThan(Seed.values().length);
    }

    private boolean failsOn(CacheScript script, Seed seed, int call) {
        redis.command("DEL", KEY);
        if (!seed.fields.isEmpty()) {
            command(Stream.concat(Stream.of("HSET", KEY), Stream.of(seed.fields.split(" ", -1))));
            redis.command("PEXPIRE", KEY, "600000");
        }
        SortedMap<String, String> before = state();
        Object reply = tryRun(failing(call, script), arguments(script));
        SortedMap<String, String> after = state();

        String at = script + " on " + seed + " with call " + call + " failing: " + before + " became " + after;
        assertThat(life()).as("TTL: " + at).isNotEqualTo(-1);
        boolean raised = epoch(after) > epoch(before);
        assertThat(epoch(after)).as(at).isGreaterThanOrEqualTo(epoch(before));
        for (String clearing : List.of("::t:user", "::other:user")) {
            if (before.containsKey(clearing)) {
                assertThat(after.containsKey(clearing) || raised).as(at).isTrue();
            }
        }
        if ("99999999999999".equals(before.get("::other:user"))) {
            assertThat(after).as(at).containsKey("::other:user");
        }
        if (reply instanceof RuntimeException) {
            return true;
        }
        switch (script) {
            case RAISE_EPOCH -> {
                assertThat(raised).as(at).isTrue();
                assertThat(after).as(at).doesNotContainKey("::t:user");
            }
            case PREPARE_CLEAR -> assertThat(after).as(at).containsKey("::t:user");
            default -> assertThat(after).as(at).doesNotContainEntry("::t:user", "1");
        }
        return false;
    }

    private static List<String> arguments(CacheScript script) {
        return switch (script) {
            case RAISE_EPOCH -> List.of("user", "7", "t");
            case PREPARE_CLEAR -> List.of("user", "t", "30000");
            default -> List.of("user", "7");
        };
    }

    private static long epoch(Map<String, String> state) {
        return Long.parseLong(state.getOrDefault("user", "0"));
    }

    private static String failing(int call, CacheScript script) {
        return """
                local server, calls = redis, 0
                local redis = {
                  call = function(name, ...)
                    calls = calls + 1
                    if calls == FAILING then error('ERR refused ' .. name) end
                    return server.call(name, ...)
                  end,
                  pcall = function(name, ...)
                    calls = calls + 1
                    if calls == FAILING then return {err = 'ERR refused ' .. name} end
                    return server.pcall(name, ...)
                  end
                }
                """
                        .replace("FAILING", Integer.toString(call))
                + script.lua().text();
    }

    private Object tryRun(String text, List<String> arguments) {
        try {
            return command(Stream.concat(Stream.of("EVAL", text, "1", KEY), arguments.stream()));
        } catch (RuntimeException failure) {
            return failure;
        }
    }

    private Object run(CacheScript script, String... arguments) {
        return command(Stream.concat(Stream.of("EVAL", script.lua().text(), "1", KEY), Stream.of(arguments)));
    }

    private Object command(Stream<String> parts) {
        return redis.command(parts.map(part -> part.getBytes(ISO_8859_1)).toArray(byte[][]::new));
    }

    private SortedMap<String, String> state() {
        List<?> flat = (List<?>) redis.command("HGETALL", KEY);
        List<String> texts = new ArrayList<>();
        flat.forEach(bytes -> texts.add(new String((byte[]) bytes, ISO_8859_1)));
        SortedMap<String, String> fields = new TreeMap<>();
        IntStream.range(0, texts.size() / 2).forEach(i -> fields.put(texts.get(2 * i), texts.get(2 * i + 1)));
        return fields;
    }

    private long life() {
        return (Long) redis.command("PTTL", KEY);
    }
}
