package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class RemoveWrongTypeScriptTests {

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @Test
    void removesWhatIsNoHash() {
        entry.isText();

        assertThat(entry.call(CacheScript.REMOVE_WRONG_TYPE)).isEqualTo(1L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }

    @Test
    void leavesAHash() {
        entry.value(300, 0, "value").lives(300);

        assertThat(entry.call(CacheScript.REMOVE_WRONG_TYPE)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{v=value +300s epoch 0} lives 300s");
    }

    @Test
    void doesNothingWhenRepeated() {
        entry.isText();
        entry.call(CacheScript.REMOVE_WRONG_TYPE);

        assertThat(entry.call(CacheScript.REMOVE_WRONG_TYPE)).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo(SeededEntry.NOTHING);
    }
}
