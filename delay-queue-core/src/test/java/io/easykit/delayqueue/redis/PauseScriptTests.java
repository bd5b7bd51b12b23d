package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PauseScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void setsAndRemovesTheSetting() {
        assertThat(shard.store.pause(KEY)).isTrue();
        assertThat(shard.store.pause(KEY)).isFalse();
        assertThat(shard.state()).isEqualTo("settings paused=1");

        assertThat(shard.store.resume(KEY)).isTrue();
        assertThat(shard.store.resume(KEY)).isFalse();
        assertThat(shard.state()).isEmpty();
    }
}
