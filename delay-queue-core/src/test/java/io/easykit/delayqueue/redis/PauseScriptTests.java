package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.admin.ShardStats.Pause;
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
        assertThat(shard.store.pause(KEY, "ops: night")).isTrue();
        shard.clock(2000);
        assertThat(shard.store.pause(KEY, "another")).isFalse();
        assertThat(shard.state()).isEqualTo("settings paused=1000:ops: night");
        assertThat(shard.store.stats(KEY).pause()).isEqualTo(new Pause(ms(1000), "ops: night"));

        assertThat(shard.store.resume(KEY)).isTrue();
        assertThat(shard.store.resume(KEY)).isFalse();
        assertThat(shard.state()).isEmpty();
    }

    @Test
    void countsAsAPauseWhateverSomebodyWroteByHand() {
        for (String written : new String[] {"1", "", "x:y", "99999999999999999999:z"}) {
            shard.redis().command("HSET", "dq:{t:0}:settings", "paused", written);

            assertThat(shard.store.stats(KEY).pause()).as(written).isEqualTo(new Pause(null, ""));
        }
    }
}
