package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HealthScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void writesAKeyThatExpiresAndNothingElse() {
        shard.seed("""
                ZADD waiting 700 a
                SET m:a one""");

        shard.store.checkWrites(KEY);
        shard.store.checkWrites(KEY);

        assertThat(shard.state())
                .isEqualTo("""
                health EXPIRES
                m:a one
                waiting a=700""");
    }
}
