package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeekScriptTests {

    private static final boolean TAKES_OLD = true;
    private static final boolean STRICT = false;

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @Test
    void findsAFreshValueAndChangesNothing() {
        entry.value(300, 7, "value").lives(300);

        assertThat(found(7, STRICT)).isTrue();

        assertThat(entry.state()).isEqualTo("{v=value +300s epoch 7} lives 300s");
    }

    @Test
    void findsNothingWithoutAnEntryAndLeavesNone() {
        assertThat(found(0, TAKES_OLD)).isFalse();
        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void findsAStaleValueOnlyForThoseWhoTakeIt() {
        entry.value(300, 0, "old").stale(20).lives(20);

        assertThat(found(0, STRICT)).isFalse();
        assertThat(found(0, TAKES_OLD)).isTrue();
    }

    /** The window began before the clock was set back. A prepared update ends by its own lease, which may be longer. */
    @Test
    void findsNothingInAWindowThatIsLongerThanAnyOneUnlessAnUpdateIsPrepared() {
        entry.value(300, 0, "old").stale(22).lives(300);
        assertThat(found(0, TAKES_OLD)).isFalse();
        entry.intent("u", 22).lives(300);
        assertThat(found(0, TAKES_OLD)).isTrue();
    }

    @Test
    void findsNothingAfterTheStaleWindowOrTheLife() {
        entry.value(300, 0, "old").stale(-1).lives(300);
        assertThat(found(0, TAKES_OLD)).isFalse();
        entry.value(-1, 0, "old");
        assertThat(found(0, TAKES_OLD)).isFalse();
    }

    @Test
    void findsNothingOfAnOlderEpoch() {
        entry.value(300, 6, "old").lives(300);
        assertThat(found(7, TAKES_OLD)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"garbage", "nan", "inf", "-7", ""})
    void takesATimestampThatIsNoNumberForExpired(String garbage) {
        entry.value(300, 0, "old").field("s", garbage).lives(300);
        assertThat(found(0, TAKES_OLD)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "short", "elevenbytes"})
    void takesAShortValueForNone(String bytes) {
        entry.field("v", bytes).lives(300);
        assertThat(found(0, TAKES_OLD)).isFalse();
    }

    @Test
    void refusesAKeyOfAnotherType() {
        entry.isText();
        assertThatThrownBy(() -> found(0, STRICT)).hasMessageContaining("WRONGTYPE");
    }

    @Test
    void findsAnExpiredValueForTheTimeThatItsReaderAccepts() {
        entry.value(-20, 7, "old").keptUntil(300).lives(300);

        assertThat(past(7, 10)).isEmpty();
        assertThat(past(8, 60)).as("of an older epoch").isEmpty();
        assertThat(past(7, 60)).hasSize(4);
        assertThat(past(7, 60).get(3)).isEqualTo(2L);
        assertThat((Long) past(7, 60).get(2)).isBetween(35_000L, 40_000L);

        assertThat(entry.state()).isEqualTo("{v=old -20s epoch 7, x=+300s} lives 300s");
    }

    @Test
    void findsAValidValueAlsoForReadersWithAFailedLoad() {
        entry.value(300, 0, "value").lives(300);
        assertThat(past(0, 60)).hasSize(3);
    }

    @Test
    void findsNoExpiredValueThatIsUnderAnUpdateOrWasInvalidated() {
        entry.value(-20, 0, "old").stale(20).lives(300);
        assertThat(past(0, 60)).as("invalidated").isEmpty();
        entry.stale(-20).lives(300);
        assertThat(past(0, 60)).as("invalidated long ago").isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"i", "s"})
    void findsNoExpiredValueBesideTheTraceOfAnUpdate(String field) {
        entry.value(-20, 0, "old").field(field, "garbage").lives(300);
        assertThat(past(0, 60)).isEmpty();
    }

    /** Value, ms and state; nothing without a value. */
    private List<?> past(int epoch, int seconds) {
        String millis = Integer.toString(seconds * 1000);
        List<?> reply = (List<?>) entry.call(CacheScript.PEEK, "0", Integer.toString(epoch), "v", millis);
        return reply.size() > 1 ? reply : List.of();
    }

    private boolean found(int epoch, boolean takesOld) {
        List<?> reply =
                (List<?>) entry.call(CacheScript.PEEK, takesOld ? "20000" : "0", Integer.toString(epoch), "v", "0");
        return reply.size() > 1;
    }
}
