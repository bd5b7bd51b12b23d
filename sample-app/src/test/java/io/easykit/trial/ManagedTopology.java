package io.easykit.trial;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** One address whose owner changes, like a managed Redis or a virtual IP: a master and a replica behind it. */
final class ManagedTopology implements Topology {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RedisServer first;
    private final RedisServer second;
    private final TcpProxy address;
    private RedisServer master;

    ManagedTopology(String... options) {
        String[] all = Stream.concat(Stream.of("--appendonly", "yes", "--appendfsync", "no"), Stream.of(options))
                .toArray(String[]::new);
        this.first = RedisServer.start(all);
        this.second = RedisServer.start(all);
        second.replicaOf(first);
        this.master = first;
        this.address = TcpProxy.to(first);
    }

    @Override
    public List<String> settings() {
        return List.of("--spring.data.redis.host=" + address.host(), "--spring.data.redis.port=" + address.port());
    }

    @Override
    public int shares() {
        return 1;
    }

    @Override
    public int shareOf(String key) {
        return 0;
    }

    @Override
    public void awaitHealthy() {
        replica().replicaOf(master);
    }

    @Override
    public Outage strike(Fault fault, int share, String movingKey) {
        RedisServer former = master;
        long struckAt = System.nanoTime();
        return switch (fault) {
            case KILL -> {
                former.kill();
                yield new Outage(struckAt, moveTo(replica()), () -> {}, former::restart);
            }
            case PAUSE -> {
                former.pause();
                yield new Outage(struckAt, moveTo(replica()), former::resume, () -> {});
            }
            case DEMOTE -> {
                RedisServer next = replica();
                try (RawRedis redis = former.connect()) {
                    redis.command("FAILOVER", "TO", next.host(), String.valueOf(next.port()));
                }
                Awaitility.await().atMost(PATIENCE).until(() -> role(next).equals("master"));
                yield new Outage(struckAt, moveTo(next), () -> {}, () -> {});
            }
            case VANISH -> {
                address.strand();
                yield new Outage(struckAt, System.nanoTime(), () -> {}, () -> {});
            }
            case RESTART -> {
                former.restart();
                yield new Outage(struckAt, System.nanoTime(), () -> {}, () -> {});
            }
            default -> throw new IllegalArgumentException("A single address does not know " + fault);
        };
    }

    /** Present connections are not moved. */
    private long moveTo(RedisServer next) {
        next.promote();
        address.redirect(next);
        master = next;
        return System.nanoTime();
    }

    private RedisServer replica() {
        return master == first ? second : first;
    }

    private static String role(RedisServer server) {
        try (RawRedis redis = server.connect()) {
            return redis.info("replication").getOrDefault("role", "");
        }
    }

    @Override
    public void onEachServer(String... command) {
        Topology.onRunning(List.of(first, second), command);
    }

    @Override
    public String version() {
        return first.version();
    }

    @Override
    public void close() {
        address.close();
        first.close();
        second.close();
    }

    @Override
    public String toString() {
        return "one address";
    }
}
