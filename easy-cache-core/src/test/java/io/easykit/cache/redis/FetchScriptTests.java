package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Load leases last 10 s, the fencing token is kept for 120 s more, values are refreshed 30 s ahead, and null 10 s. */
class FetchScriptTests {

    private static final boolean TAKES_OLD = true;
    private static final boolean STRICT = false;

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @Test
    void grantsTheLoadLeaseToTheFirstReaderOfAColdKey() {
        assertThat(fetch("call", STRICT)).isEqualTo("NEED_QUERY lease call+now +10s");

        assertThat(entry.state()).isEqualTo("{f=call+now +10s} lives 130s");
    }

    @Test
    void makesOthersWaitWhileSomebodyLoads() {
        entry.lease("fill-tok", 10).lives(130);

        assertThat(fetch("call", STRICT)).isEqualTo("NEED_WAIT 10s");

        assertThat(entry.state()).isEqualTo("{f=fill-tok +10s} lives 130s");
    }

    @Test
    void takesALoadLeaseThatNeverEndsForGarbage() {
        entry.field("f", "fill-tok\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff").lives(130);

        assertThat(fetch("call", STRICT)).isEqualTo("NEED_QUERY lease fill-tok +10s");
    }

    @ParameterizedTest
    @ValueSource(strings = {"garbage", "nan", "inf", "-inf", "1e300", "-7", ""})
    void takesATimestampThatIsNoNumberForExpired(String garbage) {
        entry.value(300, 0, "old").field("s", garbage).field("i", garbage).lives(300);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease call+now +10s");
    }

    @Test
    void grantsTheSameLoadLeaseAgainWhenRepeated() {
        String first = fetch("call", STRICT);

        assertThat(fetch("call", STRICT)).isEqualTo(first);

        assertThat(entry.state()).isEqualTo("{f=call+now +10s} lives 130s");
    }

    @Test
    void handsTheFencingTokenToTheNextLoader() {
        entry.lease("fill-tok", -10).lives(100);

        assertThat(fetch("call", STRICT)).isEqualTo("NEED_QUERY lease fill-tok +10s");

        assertThat(entry.state()).isEqualTo("{f=fill-tok +10s} lives 130s");
    }

    @Test
    void grantsTheLoadLeaseAtOnceAfterARelease() {
        entry.lease("fill-tok", 0).lives(130);

        assertThat(fetch("call", STRICT)).isEqualTo("NEED_QUERY lease fill-tok +10s");
    }

    @Test
    void bringsAFreshValue() {
        entry.value(300, 0, "value").lives(300);

        assertThat(fetch("call", STRICT)).isEqualTo("SUCCESS value +300s epoch 0");

        assertThat(entry.state()).isEqualTo("{v=value +300s epoch 0} lives 300s");
    }

    @Test
    void letsOneReaderRefreshAheadOfTheEnd() {
        entry.value(20, 0, "value").lives(20);

        assertThat(fetch("call", STRICT)).isEqualTo("SUCCESS_NEED_QUERY value +20s epoch 0 lease call+now +10s");
        assertThat(entry.state()).isEqualTo("{f=call+now +10s, v=value +20s epoch 0} lives 130s");

        assertThat(fetch("next", STRICT)).isEqualTo("SUCCESS value +20s epoch 0");
        assertThat(entry.state()).isEqualTo("{f=call+now +10s, v=value +20s epoch 0} lives 130s");
    }

    /** Of 100 s, the last tenth. */
    @Test
    void refreshesAValueWithATtlOfItsOwnInTheLastTenthOfThat() {
        String own = "\u0002\u0000" + "\u0000\u0000\u0000\u0001\u0086\u00a0" + "value";
        entry.value(20, 0, own).lives(20);
        assertThat(fetch("call", STRICT)).startsWith("SUCCESS \u0002");

        entry.value(9, 0, own).lives(9);
        assertThat(fetch("call", STRICT)).startsWith("SUCCESS_NEED_QUERY \u0002");
    }

    /** Its TTL is shorter than that of other values. */
    @ParameterizedTest
    @ValueSource(strings = {"\u0001\u0001", "\u0001\u0002"})
    void refreshesNullAndAnEmptyOptionalAheadOfTheirEnd(String nothing) {
        entry.value(20, 0, nothing).lives(20);
        assertThat(fetch("call", STRICT)).startsWith("SUCCESS \u0001");

        entry.value(9, 0, nothing).lives(9);
        assertThat(fetch("call", STRICT)).startsWith("SUCCESS_NEED_QUERY \u0001");
    }

    /** Too short for a TTL: readers find it unreadable. */
    @Test
    void takesAValueWithoutItsTtlForAnother() {
        entry.value(20, 0, "\u0002\u0000\u0000\u0000\u0000\u0001\u0086").lives(20);

        assertThat(fetch("call", STRICT)).startsWith("SUCCESS_NEED_QUERY ");
    }

    @Test
    void doesNotShortenALongerLife() {
        entry.value(300, 0, "old").stale(20).lives(300);

        fetch("call", STRICT);

        assertThat(entry.state()).isEqualTo("{f=call+now +10s, s=+20s, v=old +300s epoch 0} lives 300s");
    }

    @Test
    void refusesAValuePastItsLifeThatALoadLeaseKeptAlive() {
        entry.value(-10, 0, "late").lease("fill-tok", -10).lives(100);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease fill-tok +10s");
    }

    @Test
    void givesTheOldValueInsideTheWindowAndGrantsOneLoadLease() {
        entry.value(300, 0, "old").stale(20).lives(20);

        assertThat(fetch("call", TAKES_OLD))
                .isEqualTo("SUCCESS_NEED_QUERY old +300s epoch 0 lease call+now +10s is old");
        assertThat(entry.state()).isEqualTo("{f=call+now +10s, s=+20s, v=old +300s epoch 0} lives 130s");

        assertThat(fetch("next", TAKES_OLD)).isEqualTo("SUCCESS old +300s epoch 0 is old");
    }

    @Test
    void neverGivesTheOldValueToAStrictReader() {
        entry.value(300, 0, "old").stale(20).lives(20);

        assertThat(fetch("call", STRICT)).isEqualTo("NEED_QUERY lease call+now +10s");
        assertThat(fetch("next", STRICT)).isEqualTo("NEED_WAIT 10s");
    }

    @Test
    void refusesTheOldValueAfterTheWindow() {
        entry.value(300, 0, "old").stale(-10).lives(300);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease call+now +10s");
    }

    /** The window began before the clock was set back. A prepared update ends by its own lease, which may be longer. */
    @Test
    void refusesTheOldValueInAWindowThatIsLongerThanAnyOne() {
        entry.value(300, 0, "old").value("vB", 300, 0, "two").stale(22).lives(300);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease call+now +10s");

        assertThat(entry.state())
                .as("not for the last part of the window either")
                .doesNotContain("s=", "old", "two");
    }

    @Test
    void dropsSuchAValueWhileAnotherReaderLoads() {
        entry.value(300, 0, "old").lease("fill-tok", 10).stale(22).lives(300);

        assertThat(fetch("call", TAKES_OLD)).startsWith("NEED_WAIT");

        assertThat(entry.state()).contains("f=").doesNotContain("s=", "old");
    }

    @Test
    void refusesTheOldValuePastItsLife() {
        entry.value(-10, 0, "old").stale(20).lives(20);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease call+now +10s");
    }

    @ParameterizedTest
    @ValueSource(booleans = {TAKES_OLD, STRICT})
    void grantsNoLoadLeaseDuringAnUpdate(boolean allowsStale) {
        entry.intent("u", 30).lives(30);

        assertThat(fetch("call", allowsStale)).isEqualTo("NEED_QUERY_NO_STORE");

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s} lives 30s");
    }

    @Test
    void givesTheOldValueDuringAnUpdate() {
        entry.value(300, 0, "old").stale(30).intent("u", 30).lives(300);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("SUCCESS old +300s epoch 0 is old");
        assertThat(fetch("call", STRICT)).isEqualTo("NEED_QUERY_NO_STORE");

        assertThat(entry.state()).isEqualTo("{i=+30s, i:u=+30s, s=+30s, v=old +300s epoch 0} lives 300s");
    }

    @Test
    void grantsALoadLeaseWhenTheLeasesOfUpdatesAreOver() {
        entry.value(300, 0, "old")
                .stale(-10)
                .intent("crashed", -10)
                .intent("crashed too", -20)
                .lives(300);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease call+now +10s");
    }

    @Test
    void refusesAValueOfAnOlderEpoch() {
        entry.value(300, 6, "older").lives(300);

        assertThat(fetch("call", TAKES_OLD, "7")).isEqualTo("NEED_QUERY lease call+now +10s");
    }

    @ParameterizedTest
    @ValueSource(strings = {"6", "7"})
    void bringsAValueOfThisOrALaterEpoch(String epoch) {
        entry.value(300, 7, "value").lives(300);

        assertThat(fetch("call", STRICT, epoch)).isEqualTo("SUCCESS value +300s epoch 7");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "abc", "elevenbytes"})
    void takesAValueThatIsTooShortForNone(String garbage) {
        entry.field("v", garbage).lives(300);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease call+now +10s");

        assertThat(entry.state()).isEqualTo("{f=call+now +10s, v='" + garbage + "'} lives 300s");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "thirteenbytes", "more than fourteen bytes"})
    void takesAFencingTokenOfTheWrongLengthForNone(String garbage) {
        entry.field("f", garbage).lives(300);

        assertThat(fetch("call", STRICT)).isEqualTo("NEED_QUERY lease call+now +10s");

        assertThat(entry.state()).isEqualTo("{f=call+now +10s} lives 300s");
    }

    @Test
    void takesAStaleUntilOfGarbageForOneThatIsOver() {
        entry.value(300, 0, "old").field("s", "garbage").lives(300);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease call+now +10s");
    }

    @Test
    void takesAnIntentOfGarbageForOneThatIsOver() {
        entry.field("i", "garbage").lives(300);

        assertThat(fetch("call", TAKES_OLD)).isEqualTo("NEED_QUERY lease call+now +10s");
    }

    @Test
    void failsOnAKeyOfAnotherType() {
        entry.isText();

        assertThatThrownBy(() -> fetch("call", STRICT)).hasMessageContaining("WRONGTYPE");
    }

    private String fetch(String caller, boolean allowsStale) {
        return fetch(caller, allowsStale, "0");
    }

    /** The reply in words; missing values are left out. */
    private String fetch(String caller, boolean allowsStale, String epoch) {
        List<?> reply = (List<?>) entry.call(
                CacheScript.FETCH,
                caller,
                "10000",
                "120000",
                allowsStale ? "20000" : "0",
                "30000",
                "10000",
                epoch,
                "v");
        StringBuilder words = new StringBuilder(reply.get(1).toString());
        if (reply.size() > 2 && !reply.get(2).equals("")) {
            words.append(' ').append(entry.spell("v", reply.get(2).toString()));
        }
        if (reply.size() > 3 && !reply.get(3).equals("")) {
            words.append(" lease ").append(entry.spell("f", reply.get(3).toString()));
        }
        if (reply.size() > 4 && !reply.get(4).equals(0L)) {
            words.append(' ')
                    .append(Math.round((Long) reply.get(4) / 10_000.0) * 10)
                    .append('s');
        }
        return words + (reply.size() > 5 ? " is old" : "");
    }
}
