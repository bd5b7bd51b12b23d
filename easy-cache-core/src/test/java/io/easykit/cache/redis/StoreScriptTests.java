package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreScriptTests {

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @Test
    void storesWithTheFencingToken() {
        entry.lease("fill-tok", 10).lives(130);

        assertThat(store("fill-tok", 10)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch 7} lives 300s");
    }

    @Test
    void storesAfterTheLoadLeaseWasTakenOver() {
        entry.lease("fill-tok", 20).lives(130);

        assertThat(store("fill-tok", -30)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch 7} lives 300s");
    }

    @Test
    void takesAwayEverythingThatWasThere() {
        entry.value(20, 0, "old")
                .stale(-10)
                .lease("fill-tok", 10)
                .intent("gone", -20)
                .field("junk", "x")
                .lives(900);

        assertThat(store("fill-tok", 10)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch 7} lives 300s");
    }

    @Test
    void isRejectedWithoutAnEntry() {
        assertThat(store("fill-tok", 10)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void isRejectedWithoutAFencingToken() {
        entry.value(300, 0, "old").stale(20).lives(20);

        assertThat(store("fill-tok", 10)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{s=+20s, v=old +300s epoch 0} lives 20s");
    }

    @Test
    void isRejectedWithAnotherFencingToken() {
        entry.value(300, 0, "old").lease("fill-TOK", 10).lives(300);

        assertThat(store("fill-tok", 10)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{f=fill-TOK +10s, v=old +300s epoch 0} lives 300s");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "fill-tok", "fill-tok+thirteen-and-more"})
    void isRejectedWhereTheFencingTokenIsGarbage(String garbage) {
        entry.field("f", garbage).lives(130);

        assertThat(store("fill-tok", 10)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{f='" + garbage + "'} lives 130s");
    }

    @Test
    void isRejectedWhenRepeatedAndLeavesWhatItStored() {
        entry.lease("fill-tok", 10).lives(130);
        store("fill-tok", 10);

        assertThat(store("fill-tok", 10)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch 7} lives 300s");
    }

    @Test
    void keepsEpochsBeyondTheSignedNumbers() {
        entry.lease("fill-tok", 10).lives(130);

        entry.call(CacheScript.STORE, entry.loadLease("fill-tok", 10), "4294967295", "new", "300000", "v", "0");

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch -1} lives 300s");
    }

    @Test
    void failsOnAKeyOfAnotherType() {
        entry.isText();

        assertThatThrownBy(() -> store("fill-tok", 10)).hasMessageContaining("WRONGTYPE");
    }

    @Test
    void keepsValidValuesOfOtherVersionsAndExpiresWithTheFirst() {
        entry.value(20, 0, "old")
                .value("vA", 200, 3, "one")
                .value("vB", 900, 0, "two")
                .lease("fill-tok", 10)
                .lives(900);

        assertThat(store("fill-tok", 10)).isEqualTo(1L);

        assertThat(entry.state())
                .isEqualTo("{v=new +300s epoch 7, vA=one +200s epoch 3, vB=two +900s epoch 0} lives 200s");
    }

    @Test
    void dropsValuesOfOtherVersionsThatEndSoonOrAreGarbage() {
        entry.value("vA", 140, 0, "one")
                .value("vB", -20, 0, "two")
                .field("vC", "garbage")
                .lease("fill-tok", 10)
                .lives(900);

        assertThat(store("fill-tok", 10)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch 7} lives 300s");
    }

    @Test
    void dropsInvalidatedValuesOfOtherVersions() {
        entry.value("vA", 900, 0, "one").stale(10).lease("fill-tok", 10).lives(130);

        assertThat(store("fill-tok", 10)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch 7} lives 300s");
    }

    @Test
    void keepsThreeValuesOfOtherVersionsAtMost() {
        for (String other : List.of("vA", "vB", "vC", "vD", "vE")) {
            entry.value(other, 900, 0, "one");
        }
        entry.lease("fill-tok", 10).lives(900);

        store("fill-tok", 10);

        assertThat(entry.state().split("=one")).hasSize(4);
    }

    @Test
    void marksAnEntryThatOutlivesItsValues() {
        entry.value("vA", 200, 3, "one").lease("fill-tok", 10).lives(130);

        assertThat(store("fill-tok", 10, 60)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch 7, vA=one +200s epoch 3, x=+260s} lives 260s");
    }

    @Test
    void takesTheMarkAwayFromAnEntryThatDoesNotOutliveItsValues() {
        entry.value(-20, 0, "old").keptUntil(40).lease("fill-tok", 10).lives(130);

        assertThat(store("fill-tok", 10)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{v=new +300s epoch 7} lives 300s");
    }

    private Object store(String token, int leaseEnds, int outlives) {
        return entry.call(
                CacheScript.STORE,
                entry.loadLease(token, leaseEnds),
                "7",
                "new",
                "300000",
                "v",
                Integer.toString(outlives * 1000));
    }

    private Object store(String token, int leaseEnds) {
        return entry.call(CacheScript.STORE, entry.loadLease(token, leaseEnds), "7", "new", "300000", "v", "0");
    }
}
