package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class ServerCheckIntegrationTests {

    @Test
    void hasNoComplaintAboutAServerThatKeepsEverything() {
        try (RedisServer redis = RedisServer.start("--appendonly", "yes")) {
            ServerCheck.Report report = check(standalone(redis));

            assertThat(report.warnings()).isEmpty();
            assertThat(report.details())
                    .containsEntry("version", redis.version())
                    .containsEntry("evictionPolicy", "noeviction")
                    .containsEntry("persistence", "aof");
        }
    }

    @Test
    void warnsOfEvictionAndOfMissingPersistence() {
        try (RedisServer redis = RedisServer.start("--maxmemory-policy", "allkeys-lru")) {
            ServerCheck.Report report = check(standalone(redis));

            assertThat(report.warnings())
                    .hasSize(2)
                    .anyMatch(warning -> warning.contains("maxmemory-policy is allkeys-lru"))
                    .anyMatch(warning -> warning.contains("appendonly"));
        }
    }

    @Test
    void warnsOfSnapshotsAlone() {
        try (RedisServer redis = RedisServer.start();
                RawRedis raw = redis.connect()) {
            raw.command("CONFIG", "SET", "save", "3600 1");
            assertThat(check(standalone(redis)).details()).containsEntry("persistence", "rdb");
            assertThat(check(standalone(redis)).warnings())
                    .singleElement()
                    .asString()
                    .contains("only snapshots", "appendonly");
            raw.command("CONFIG", "SET", "appendonly", "yes");
            assertThat(check(standalone(redis)).warnings()).isEmpty();
        }
    }

    /** Rates, alerts, nodes and jobs have one. */
    @ParameterizedTest
    @ValueSource(strings = {"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"})
    void warnsOfTheEvictionOfWhatHasATimeToLive(String policy) {
        try (RedisServer redis = RedisServer.start("--appendonly", "yes", "--maxmemory-policy", policy)) {
            assertThat(check(standalone(redis)).warnings())
                    .singleElement()
                    .asString()
                    .startsWith("Redis may evict keys that have a TTL when its memory is full (maxmemory-policy is "
                            + policy + ")");
        }
    }

    @Test
    void doesNotComplainOfWhatItMayNotSee() {
        try (RedisServer redis = RedisServer.start()) {
            try (RawRedis raw = redis.connect()) {
                raw.command("ACL", "SETUSER", "guest", "on", ">secret", "~*", "+@all", "-config", "-info");
            }
            RedisStandaloneConfiguration server = standalone(redis);
            server.setUsername("guest");
            server.setPassword("secret");

            ServerCheck.Report report = check(server);

            assertThat(report.warnings()).isEmpty();
            assertThat(report.details()).containsOnlyKeys("version", "evictionPolicy", "persistence");
            assertThat(report.details().values()).containsOnly("unknown");
        }
    }

    @Test
    void warnsOfReplicasThatAMasterDoesNotNeed() {
        try (RedisServer master = RedisServer.start("--appendonly", "yes");
                RedisServer replica = RedisServer.start();
                RawRedis raw = master.connect()) {
            assertThat(check(standalone(master)).warnings()).isEmpty();
            replica.replicaOf(master);

            assertThat(check(standalone(master)).warnings())
                    .singleElement()
                    .asString()
                    .contains("Set min-replicas-to-write to 1");

            raw.command("CONFIG", "SET", "min-replicas-to-write", "1");
            assertThat(check(standalone(master)).warnings()).isEmpty();
        }
    }

    @Test
    void asksEachNodeOfACluster() {
        try (RedisCluster cluster = RedisCluster.start()) {
            LettuceConnectionFactory connections = new LettuceConnectionFactory(
                    new RedisClusterConfiguration(List.of(cluster.addresses().split(","))));
            connections.afterPropertiesSet();

            ServerCheck.Report report = ServerCheck.of(connections);
            try (RawRedis one = cluster.masters().get(0).connect()) {
                one.command("CONFIG", "SET", "appendonly", "yes");
            }
            ServerCheck.Report mixed = ServerCheck.of(connections);

            connections.destroy();
            assertThat(report.details()).containsEntry("evictionPolicy", "noeviction");
            assertThat(report.warnings()).hasSize(1);
            assertThat(mixed.details()).containsEntry("persistence", "aof, none");
            assertThat(mixed.warnings()).isEqualTo(report.warnings());
        }
    }

    @Test
    void saysThatRedisIsAway() {
        try (RedisServer redis = RedisServer.start()) {
            redis.kill();

            assertThatThrownBy(() -> check(standalone(redis))).isInstanceOf(StoreUnavailableException.class);
        }
    }

    private static RedisStandaloneConfiguration standalone(RedisServer redis) {
        return new RedisStandaloneConfiguration(redis.host(), redis.port());
    }

    private static ServerCheck.Report check(RedisStandaloneConfiguration server) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(server);
        connections.afterPropertiesSet();
        try {
            return ServerCheck.of(connections);
        } finally {
            connections.destroy();
        }
    }
}
