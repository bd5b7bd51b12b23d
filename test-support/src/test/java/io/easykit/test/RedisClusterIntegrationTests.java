package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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

                await().until(() -> "master".equals(redis.info("replication").get("role")));
            }
        }
    }

    @Test
    void refusesAClusterWithoutMasters() {
        assertThatIllegalArgumentException().isThrownBy(() -> RedisCluster.start(0, 1));
    }
}
