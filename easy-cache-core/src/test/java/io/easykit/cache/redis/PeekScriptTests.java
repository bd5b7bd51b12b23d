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

    private boolean found(int epoch, boolean takesOld) {
        List<?> reply = (List<?>) entry.call(CacheScript.PEEK, takesOld ? "1" : "0", Integer.toString(epoch), "v");
        return reply.size() > 1;
    }
}
