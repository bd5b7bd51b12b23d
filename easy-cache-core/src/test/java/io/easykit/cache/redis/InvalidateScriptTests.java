package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InvalidateScriptTests {

    private static final int WINDOW = 20;

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @ParameterizedTest
    @ValueSource(ints = {0, WINDOW})
    void leavesNothingOfAKeyThatWasNeverCached(int window) {
        assertThat(invalidate("", window)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, WINDOW})
    void leavesNothingOfAnUpdateOfAKeyThatWasNeverCached(int window) {
        entry.intent("u", 30).lives(30);

        assertThat(invalidate("u", window)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void dropsTheValueWhereThereIsNoWindow() {
        entry.value(300, 0, "old").lives(300);

        assertThat(invalidate("", 0)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void leavesTheValueForTheWindow() {
        entry.value(300, 0, "old").lives(300);

        assertThat(invalidate("", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v=old +300s epoch 0} lives 20s");
    }

    @Test
    void takesTheFencingTokenAway() {
        entry.value(300, 0, "old").lease("fill-tok", 10).lives(300);

        assertThat(invalidate("", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v=old +300s epoch 0} lives 20s");
    }

    @Test
    void takesTheFencingTokenOfAColdKeyAway() {
        entry.lease("fill-tok", 10).lives(130);

        assertThat(invalidate("", WINDOW)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void neverRaisesStaleUntil() {
        entry.value(300, 0, "old").stale(10).lives(10);

        assertThat(invalidate("", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+10s, v=old +300s epoch 0} lives 10s");
    }

    /** The window began before the clock was set back. */
    @Test
    void dropsAValueInAWindowThatIsLongerThanAnyOne() {
        entry.value(300, 0, "old").stale(22).lives(60);

        assertThat(invalidate("", WINDOW)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void lowersWhatThePreparationAllowed() {
        entry.value(300, 0, "old").stale(30).intent("u", 30).lives(300);

        assertThat(invalidate("u", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v=old +300s epoch 0} lives 20s");
    }

    @Test
    void isIdempotent() {
        entry.value(300, 0, "old").stale(30).intent("u", 30).lives(300);
        invalidate("u", WINDOW);

        assertThat(invalidate("u", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v=old +300s epoch 0} lives 20s");
    }

    @Test
    void leavesTheIntentsOfOthers() {
        entry.value(300, 0, "old").stale(30).intent("u", 60).intent("other", 40).lives(300);

        assertThat(invalidate("u", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{i=+40s, i:other=+40s, s=+20s, v=old +300s epoch 0} lives 40s");
    }

    @Test
    void leavesTheIntentsOfOthersWhenItDropsTheValue() {
        entry.value(300, 0, "old").stale(30).intent("u", 60).intent("other", 40).lives(300);

        assertThat(invalidate("u", 0)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{i=+40s, i:other=+40s} lives 300s");
    }

    @Test
    void clearsIntentsWhoseLeaseIsOver() {
        entry.value(300, 0, "old")
                .intent("crashed", -20)
                .intent("crashed too", -10)
                .lives(300);

        assertThat(invalidate("", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v=old +300s epoch 0} lives 20s");
    }

    @Test
    void endsAnUpdateWhoseLeaseIsOver() {
        entry.value(300, 0, "fresh").lives(300);

        assertThat(invalidate("late", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v=fresh +300s epoch 0} lives 20s");
    }

    @Test
    void boundsAValueOfGarbageToo() {
        entry.field("v", "abc").lives(300);

        assertThat(invalidate("", WINDOW)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v='abc'} lives 20s");
    }

    @Test
    void doesNotMindGarbageInItsFields() {
        entry.value(300, 0, "old")
                .field("s", "garbage")
                .field("i", "garbage")
                .field("i:x", "garbage")
                .lives(300);

        assertThat(invalidate("", 0)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @ParameterizedTest
    @ValueSource(strings = {"nan", "inf", "-inf", "1e300", "-7", ""})
    void takesATimestampThatIsNoNumberForExpired(String garbage) {
        entry.value(300, 0, "old")
                .field("s", garbage)
                .field("i", garbage)
                .field("i:x", garbage)
                .lives(300);

        assertThat(invalidate("", WINDOW)).isEqualTo(1L);

        // It ends within the next millisecond, not after the 300 s of its value.
        Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .untilAsserted(() -> assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING));
    }

    @Test
    void failsOnAKeyOfAnotherType() {
        entry.isText();

        assertThatThrownBy(() -> invalidate("", WINDOW)).hasMessageContaining("WRONGTYPE");
    }

    @Test
    void boundsTheValuesOfAllVersions() {
        entry.value("vA", 300, 0, "one")
                .value("vB", 300, 0, "two")
                .lease("fill-tok", 10)
                .lives(300);

        assertThat(invalidate("u", 20)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, vA=one +300s epoch 0, vB=two +300s epoch 0} lives 20s");
    }

    @Test
    void dropsTheValuesOfAllVersions() {
        entry.value("vA", 300, 0, "one")
                .value("vB", 300, 0, "two")
                .intent("v", 10)
                .lives(300);

        assertThat(invalidate("u", 0)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{i=+10s, i:v=+10s} lives 300s");
    }

    @Test
    void leavesTheSameStateWithAHint() {
        entry.value(300, 0, "old").lease("fill-tok", 10).lives(300);

        assertThat(entry.call(CacheScript.INVALIDATE, "", "20000", "ec:near", "node name::1"))
                .isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v=old +300s epoch 0} lives 20s");
    }

    @Test
    void publishesNothingWithoutAChannel() {
        String before = published();
        invalidate("", WINDOW);
        assertThat(published()).isEqualTo(before);
        assertThat(entry.call(CacheScript.INVALIDATE, "", "0", "ec:near", "node name::1"))
                .isEqualTo(0L);
        assertThat(published()).isNotEqualTo(before);
    }

    /** How often, and how long. */
    private static String published() {
        try (RawRedis redis = RedisServer.shared().connect()) {
            return redis.info("commandstats").getOrDefault("cmdstat_publish", "never");
        }
    }

    private Object invalidate(String token, int window) {
        return entry.call(CacheScript.INVALIDATE, token, Integer.toString(window * 1000));
    }
}
