package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class ReleaseLoadScriptTests {

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @Test
    void endsTheLoadLeaseAndKeepsTheFencingToken() {
        String loadLease = entry.loadLease("fill-tok", 10);
        entry.value(300, 0, "old").stale(20).field("f", loadLease).lives(130);

        assertThat(entry.call(CacheScript.RELEASE_LOAD, loadLease)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo("{f=fill-tok released, s=+20s, v=old +300s epoch 0} lives 130s");
    }

    @Test
    void leavesALaterLoadLeaseOfTheSameFencingToken() {
        entry.lease("fill-tok", 20).lives(130);

        assertThat(entry.call(CacheScript.RELEASE_LOAD, entry.loadLease("fill-tok", 10)))
                .isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{f=fill-tok +20s} lives 130s");
    }

    @Test
    void doesNothingWhenRepeated() {
        String loadLease = entry.loadLease("fill-tok", 10);
        entry.field("f", loadLease).lives(130);
        entry.call(CacheScript.RELEASE_LOAD, loadLease);

        assertThat(entry.call(CacheScript.RELEASE_LOAD, loadLease)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{f=fill-tok released} lives 130s");
    }

    @Test
    void leavesNothingWhereNothingWas() {
        assertThat(entry.call(CacheScript.RELEASE_LOAD, entry.loadLease("fill-tok", 10)))
                .isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void failsOnAKeyOfAnotherType() {
        entry.isText();

        assertThatThrownBy(() -> entry.call(CacheScript.RELEASE_LOAD, entry.loadLease("fill-tok", 10)))
                .hasMessageContaining("WRONGTYPE");
    }
}
