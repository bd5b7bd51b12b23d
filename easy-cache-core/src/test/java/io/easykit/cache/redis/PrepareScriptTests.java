package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrepareScriptTests {

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @Test
    void preparesTheUpdateOfAKeyThatIsNotCached() {
        assertThat(prepare("u", true)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s} lives 30s");
    }

    @Test
    void boundsTheOldValueByTheLease() {
        entry.value(300, 0, "old").lives(300);

        prepare("u", true);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s, s=+30s, v=old +300s epoch 0} lives 300s");
    }

    @Test
    void neverRaisesStaleUntil() {
        entry.value(300, 0, "old").stale(10).lives(10);

        prepare("u", true);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s, s=+10s, v=old +300s epoch 0} lives 30s");
    }

    @Test
    void lowersStaleUntil() {
        entry.value(300, 0, "old").stale(60).intent("other", 60).lives(60);

        prepare("u", true);

        assertThat(entry.state()).isEqualTo("{i=+60s, i:other=+60s, i:u=+30s, s=+30s, v=old +300s epoch 0} lives 60s");
    }

    /** The window began before the clock was set back. */
    @Test
    void dropsAValueInAWindowThatIsLongerThanAnyOne() {
        entry.value(300, 0, "old").stale(22).lives(60);

        prepare("u", true);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s} lives 60s");
    }

    @Test
    void dropsAValueThatMayNotBecomeStale() {
        entry.value(300, 0, "old").stale(10).lives(300);

        prepare("u", false);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s} lives 300s");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void takesTheFencingTokenAway(boolean staysReadable) {
        entry.lease("fill-tok", 10).lives(130);

        prepare("u", staysReadable);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s} lives 130s");
    }

    @Test
    void standsBesideOtherIntents() {
        entry.intent("short", 10).intent("long", 60).lives(60);

        prepare("u", true);

        assertThat(entry.state()).isEqualTo("{i=+60s, i:long=+60s, i:short=+10s, i:u=+30s} lives 60s");
    }

    @Test
    void prolongsTheLifeOfTheKeyToTheLease() {
        entry.value(10, 0, "old").lives(10);

        prepare("u", true);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s, s=+30s, v=old +10s epoch 0} lives 30s");
    }

    @Test
    void changesNothingWhenRepeated() {
        entry.value(300, 0, "old").lives(300);
        prepare("u", true);

        prepare("u", true);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s, s=+30s, v=old +300s epoch 0} lives 300s");
    }

    @Test
    void costsALeaseWhenRepeatedAfterItsInvalidation() {
        prepare("u", true);
        entry.call(CacheScript.INVALIDATE, "u", "1500");

        prepare("u", true);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s} lives 30s");
    }

    @Test
    void doesNotMindGarbageInItsFields() {
        entry.value(300, 0, "old").field("s", "garbage").field("i", "garbage").lives(300);

        prepare("u", true);

        assertThat(entry.state())
                .isEqualTo("{i=+30s, i:u=+30s, s='0', v=old +300s epoch 0} lives 300s"
                        .replace("'0'", entry.spell("s", "0")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"nan", "inf", "1e300", "-7", ""})
    void takesATimestampThatIsNoNumberForExpired(String garbage) {
        entry.field("i", garbage).field("i:x", garbage).lives(10);

        prepare("u", true);

        assertThat(entry.state()).startsWith("{i=+30s, i:u=+30s, i:x='").endsWith(" lives 30s");
    }

    @Test
    void failsOnAKeyOfAnotherType() {
        entry.isText();

        assertThatThrownBy(() -> prepare("u", true)).hasMessageContaining("WRONGTYPE");
    }

    @Test
    void boundsTheValuesOfAllVersions() {
        entry.value("vA", 300, 0, "one")
                .value("vB", 300, 0, "two")
                .lease("fill-tok", 10)
                .lives(300);

        prepare("u", true);

        assertThat(entry.state())
                .isEqualTo("{i=+30s, i:u=+30s, s=+30s, vA=one +300s epoch 0, vB=two +300s epoch 0} lives 300s");
    }

    @Test
    void dropsTheValuesOfAllVersions() {
        entry.value("vA", 300, 0, "one").value("vB", 300, 0, "two").stale(10).lives(300);

        prepare("u", false);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s} lives 300s");
    }

    private Object prepare(String token, boolean staysReadable) {
        return entry.call(CacheScript.PREPARE, token, "30000", staysReadable ? "20000" : "0");
    }
}
