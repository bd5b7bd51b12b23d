package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class RemoveUnreadableScriptTests {

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @Test
    void removesTheValueThatWasSeen() {
        entry.value(300, 7, "garbage").lives(300);

        assertThat(removeUnreadable("garbage")).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void removesWhatGoesWithTheValueAndLeavesUpdates() {
        entry.value(300, 0, "garbage")
                .stale(20)
                .lease("fill-tok", 10)
                .intent("update", 30)
                .lives(300);

        assertThat(removeUnreadable("garbage")).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{i=+30s, i:update=+30s} lives 300s");
    }

    @Test
    void leavesAnotherValue() {
        entry.value(300, 0, "good").lives(300);

        assertThat(removeUnreadable("garbage")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{v=good +300s epoch 0} lives 300s");
    }

    @Test
    void leavesALoadLeaseOfAnEntryWithoutAValue() {
        entry.lease("fill-tok", 10).lives(130);

        assertThat(removeUnreadable("garbage")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{f=fill-tok +10s} lives 130s");
    }

    @Test
    void doesNothingWithoutAnEntry() {
        assertThat(removeUnreadable("garbage")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void failsOnAKeyOfAnotherType() {
        entry.isText();

        assertThatThrownBy(() -> removeUnreadable("garbage")).hasMessageContaining("WRONGTYPE");
    }

    @Test
    void leavesValuesOfOtherVersionsWithTheirLocks() {
        entry.value(300, 0, "bad")
                .value("vA", 100, 0, "one")
                .lease("fill-tok", 10)
                .stale(20)
                .lives(130);

        assertThat(removeUnreadable("bad")).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{f=fill-tok +10s, s=+20s, vA=one +100s epoch 0} lives 130s");
    }

    @Test
    void leavesAValueOfAnotherVersionWithTheSameBytes() {
        entry.value("vA", 300, 0, "bad").lives(300);

        assertThat(removeUnreadable("bad")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{vA=bad +300s epoch 0} lives 300s");
    }

    private Object removeUnreadable(String envelope) {
        return entry.call(CacheScript.REMOVE_UNREADABLE, envelope, "v");
    }
}
