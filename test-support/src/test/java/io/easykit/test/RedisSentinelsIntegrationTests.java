package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedisSentinelsIntegrationTests {

    private final RedisSentinels group =
            RedisSentinels.start(1, TlsCertificate.shared().options());

    @AfterEach
    void stop() {
        group.close();
    }

    @Test
    void promotesTheReplicaOfAMasterThatHangs() {
        RedisServer first = group.master();
        assertThat(first).isEqualTo(group.servers().get(0));
        assertThat(first.uri()).startsWith("rediss://");
        assertThat(group.addresses().split(",", -1)).hasSize(3);

        first.pause();
        RedisServer second = group.awaitOtherMaster(first);

        assertThat(second).isEqualTo(group.servers().get(1));
        first.resume();
        first.replicaOf(second);
        group.awaitHealthy();
        long before = System.nanoTime();
        assertThat(group.failOver()).isEqualTo(first);
        assertThat(group.switchedAt()).isBetween(before, System.nanoTime());
    }
}
