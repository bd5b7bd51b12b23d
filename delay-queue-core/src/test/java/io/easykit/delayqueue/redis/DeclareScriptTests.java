package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeclareScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void keepsTheFirstShardCount() {
        assertThat(shard.store.declared("t")).isZero();
        assertThat(shard.state()).isEmpty();
        assertThat(shard.store.declare("t", 4)).isEqualTo(4);
        assertThat(shard.store.declared("t")).isEqualTo(4);
        assertThat(shard.store.declare("t", 8)).isEqualTo(4);

        assertThat(shard.state()).isEqualTo("settings shards=4");
    }
}
