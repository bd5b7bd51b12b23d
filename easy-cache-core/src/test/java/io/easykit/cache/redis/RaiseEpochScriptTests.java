package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RaiseEpochScriptTests {

    private static final String KEY = "epochs";

    @AutoClose
    private final RawRedis redis = RedisServer.shared().connect();

    @BeforeEach
    void empty() {
        RedisServer.shared().flush();
    }

    @Test
    void beginsWithTheClock() {
        long before = Instant.now().getEpochSecond() - 1;

        long epoch = raise("user", 0);

        assertThat(epoch).isBetween(before, before + 60);
        assertThat(epochs()).isEqualTo(Map.of("user", Long.toString(epoch)));
    }

    @Test
    void isHigherEachTime() {
        long first = raise("user", 0);

        assertThat(raise("user", 0)).isGreaterThan(first);
        assertThat(raise("user", 0)).isGreaterThan(first + 1);
    }

    @Test
    void isHigherThanWhatTheCallerHasHeardOf() {
        assertThat(raise("user", 4_000_000_000L)).isEqualTo(4_000_000_001L);
        assertThat(raise("user", 7)).isEqualTo(4_000_000_002L);
    }

    /** The epoch of every prefix counts for each of them, so one that is not higher would change nothing. */
    @Test
    void isHigherThanTheOneOfEveryPrefix() {
        redis.command("HSET", KEY, "::every", "4000000000");
        assertThat(raise("user", 0)).isEqualTo(4_000_000_001L);
    }

    @Test
    void leavesOtherPrefixes() {
        redis.command("HSET", KEY, "stock", "7");

        long epoch = raise("user", 0);

        assertThat(epochs()).isEqualTo(Map.of("stock", "7", "user", Long.toString(epoch)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "garbage", "1e300", "-7", "4294967295", "99999999999999999999", "nan", "inf"})
    void takesGarbageForNoEpoch(String garbage) {
        redis.command("HSET", KEY, "user", garbage);

        long epoch = raise("user", 7);

        assertThat(epoch).isBetween(1_000_000_000L, 4_294_967_295L);
        assertThat(epochs()).isEqualTo(Map.of("user", Long.toString(epoch)));
    }

    @Test
    void neverExceedsFourBytes() {
        assertThat(raise("user", 4_294_967_294L)).isEqualTo(4_294_967_294L);
        assertThat(raise("user", 99_999_999_999L)).isEqualTo(4_294_967_294L);
    }

    @Test
    void livesLongerThanAnyValue() {
        raise("user", 0);

        assertThat((Long) redis.command("PTTL", KEY))
                .isBetween(346_895_000_000L, 346_896_000_000L)
                .isGreaterThan(Duration.ofDays(3650).toMillis());
    }

    @Test
    void failsOnAKeyOfAnotherType() {
        redis.command("SET", KEY, "text");

        assertThatThrownBy(() -> raise("user", 0)).hasMessageContaining("WRONGTYPE");
    }

    @Test
    void raisesSeveralPrefixesAtOnce() {
        long first = raise("user", 4_000_000_000L);
        List<?> epochs = (List<?>) redis.command(
                "EVAL",
                CacheScript.RAISE_EPOCH.lua().text(),
                "1",
                KEY,
                "user",
                "0",
                "",
                "order",
                "0",
                "",
                "view",
                "4100000000",
                "");

        assertThat(epochs.get(0)).isEqualTo(first + 1);
        assertThat((Long) epochs.get(1)).isPositive().isLessThan(first);
        assertThat(epochs.get(2)).isEqualTo(4_100_000_001L);
        assertThat((List<?>) redis.command("HVALS", KEY)).hasSize(3);
    }

    private long raise(String prefix, long known) {
        return (Long) ((List<?>) redis.command(
                        "EVAL", CacheScript.RAISE_EPOCH.lua().text(), "1", KEY, prefix, Long.toString(known), ""))
                .get(0);
    }

    private SortedMap<?, ?> epochs() {
        return (SortedMap<?, ?>) redis.snapshot().get(KEY).content();
    }
}
