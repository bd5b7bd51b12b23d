package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.test.RawRedis.RedisError;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RedisClusterIntegrationTests {
    @Test
    void everyKeyHasAMasterThatServesIt() {
        try (RedisCluster cluster = RedisCluster.start()) {
            assertThat(cluster.nodes()).hasSize(3).isEqualTo(cluster.masters());
            assertThat(cluster.addresses().split(",", -1)).hasSize(3);
            IntStream.range(0, 100).forEach(i -> {
                try (RawRedis redis = cluster.masterOf("key" + i).connect()) {
                    assertThat(redis.command("SET", "key" + i, "value")).isEqualTo("OK");
                }
            });
            RedisServer other = cluster.masters().stream()
                    .filter(node -> node != cluster.masterOf("key"))
                    .findFirst()
                    .orElseThrow();
            try (RawRedis redis = other.connect()) {
                assertThatThrownBy(() -> redis.command("GET", "key"))
                        .isInstanceOf(RedisError.class)
                        .hasMessageStartingWith("MOVED ")
                        .hasMessageEndingWith(":" + cluster.masterOf("key").port());
            }
        }
    }

    @Test
    void replicaTakesOverFromAKilledMaster() {
        try (RedisCluster cluster = RedisCluster.start(3, 1, "--cluster-node-timeout", "1000")) {
            RedisServer master = cluster.masters().get(1);
            RedisServer replica = cluster.replicas().get(1);
            try (RawRedis redis = replica.connect()) {
                assertThat(redis.info("replication"))
                        .containsEntry("role", "slave")
                        .containsEntry("master_port", String.valueOf(master.port()));

                master.kill();

                assertThat(cluster.awaitOtherMaster(1, master)).isEqualTo(replica);
                master.restart();
                cluster.awaitHealthy();
                assertThat(cluster.master(1)).isEqualTo(replica);
            }
        }
    }

    @Test
    void movesASlotWithItsKeysAndUsesTlsAmongItsNodes() {
        try (RedisCluster cluster =
                RedisCluster.start(2, 0, TlsCertificate.shared().options())) {
            String key = "{moving}:1";
            int share = cluster.shareOf(key);
            try (RawRedis redis = cluster.master(share).connect()) {
                redis.command("SET", key, "value");
            }

            cluster.moveSlot(key, 1 - share, 10);

            assertThat(cluster.nodes().get(0).uri()).startsWith("rediss://");
            try (RawRedis redis = cluster.master(1 - share).connect()) {
                assertThat(RawRedis.text((byte[]) redis.require("GET", key))).isEqualTo("value");
            }
            cluster.moveSlot(key, share, 10);
        }
    }

    @Test
    void refusesAClusterWithoutMasters() {
        assertThatIllegalArgumentException().isThrownBy(() -> RedisCluster.start(0, 1));
    }
}
