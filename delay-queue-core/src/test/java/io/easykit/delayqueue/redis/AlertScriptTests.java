package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AlertScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void tellsTheFirstWhoRaisesAndTheFirstWhoResolves() {
        assertThat(shard.store.raise(KEY, "dead", Duration.ofMinutes(1))).isTrue();
        assertThat(shard.store.raise(KEY, "dead", Duration.ofMinutes(2))).isFalse();
        assertThat(shard.state()).isEqualTo("alert:dead EXPIRES");
        assertThat((Long) shard.redis().command("PTTL", "dq:{t:0}:alert:dead")).isGreaterThan(60_000);

        assertThat(shard.store.resolve(KEY, "dead")).isTrue();
        assertThat(shard.store.resolve(KEY, "dead")).isFalse();
        assertThat(shard.state()).isEmpty();
    }
}
