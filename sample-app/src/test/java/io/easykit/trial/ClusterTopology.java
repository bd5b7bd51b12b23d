package io.easykit.trial;

import static org.awaitility.Awaitility.await;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Three masters with one replica each. */
final class ClusterTopology implements Topology {

    private static final int MASTERS = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RedisCluster cluster;

    ClusterTopology(String... options) {
        this.cluster = RedisCluster.start(
                MASTERS,
                1,
                Stream.concat(
                                Stream.of(
                                        "--cluster-node-timeout",
                                        "1000",
                                        "--cluster-require-full-coverage",
                                        "no",
                                        "--appendonly",
                                        "yes",
                                        "--appendfsync",
                                        "no"),
                                Stream.of(options))
                        .toArray(String[]::new));
    }

    @Override
    public List<String> settings() {
        return List.of("--spring.data.redis.cluster.nodes=" + cluster.addresses());
    }

    @Override
    public int shares() {
        return MASTERS;
    }

    @Override
    public int shareOf(String key) {
        return cluster.shareOf(key);
    }

    @Override
    public void awaitHealthy() {
        cluster.awaitHealthy();
    }

    @Override
    public Outage strike(Fault fault, int share, String movingKey) {
        RedisServer former = cluster.master(share);
        long struckAt = System.nanoTime();
        return switch (fault) {
            case KILL -> {
                former.kill();
                yield new Outage(struckAt, promoted(share, former), () -> {}, former::restart);
            }
            case PAUSE -> {
                former.pause();
                yield new Outage(struckAt, promoted(share, former), former::resume, () -> {});
            }
            case DEMOTE -> {
                try (RawRedis redis = replica(share, former).connect()) {
                    redis.command("CLUSTER", "FAILOVER");
                }
                yield new Outage(struckAt, promoted(share, former), () -> {}, () -> {});
            }
            case RESTART -> {
                former.restart();
                yield new Outage(struckAt, servesAgain(former), () -> {}, () -> {});
            }
            case PARTLY_DEAD -> {
                List<RedisServer> dead = new ArrayList<>(List.of(replica(share, former), former));
                dead.forEach(RedisServer::kill);
                yield new Outage(struckAt, Outage.NEVER, () -> {}, () -> dead.forEach(RedisServer::restart));
            }
            case SLOT_MOVES -> {
                int home = cluster.shareOf(movingKey);
                cluster.moveSlot(movingKey, (home + 1) % MASTERS, 1);
                yield new Outage(struckAt, System.nanoTime(), () -> {}, () -> cluster.moveSlot(movingKey, home, 1));
            }
            default -> throw new IllegalArgumentException("A cluster does not know " + fault);
        };
    }

    private long promoted(int share, RedisServer former) {
        cluster.awaitOtherMaster(share, former);
        return System.nanoTime();
    }

    /**
     * Waits until a restarted server takes calls. Redis refuses them for two seconds after the start of a master
     * (CLUSTER_WRITABLE_DELAY), which no client can shorten. So the time of the application begins after that, as it
     * does after a promotion.
     */
    private static long servesAgain(RedisServer restarted) {
        await().pollInterval(Duration.ofMillis(10)).atMost(PATIENCE).until(() -> {
            try (RawRedis redis = restarted.connect()) {
                return RawRedis.text((byte[]) redis.command("CLUSTER", "INFO")).startsWith("cluster_state:ok");
            }
        });
        return System.nanoTime();
    }

    private RedisServer replica(int share, RedisServer master) {
        return Stream.of(cluster.masters().get(share), cluster.replicas().get(share))
                .filter(node -> node != master)
                .findFirst()
                .orElseThrow();
    }

    @Override
    public void onEachServer(String... command) {
        Topology.onRunning(cluster.nodes(), command);
    }

    @Override
    public String version() {
        return cluster.nodes().get(0).version();
    }

    @Override
    public void close() {
        cluster.close();
    }

    @Override
    public String toString() {
        return "Cluster";
    }
}
