package io.easykit.trial;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisSentinels;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;

/** A master, two replicas and three sentinels. */
final class SentinelTopology implements Topology {

    /** The recommended value. Other faults use a shorter one, to save time. */
    private static final Duration DOWN_AFTER = Duration.ofSeconds(5);

    private final RedisSentinels group;

    SentinelTopology(String... options) {
        this.group = RedisSentinels.start(2, options);
    }

    @Override
    public List<String> settings() {
        return List.of(
                "--spring.data.redis.sentinel.master=" + RedisSentinels.MASTER_NAME,
                "--spring.data.redis.sentinel.nodes=" + group.addresses());
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
        group.awaitHealthy();
    }

    @Override
    public Outage strike(Fault fault, int share, String movingKey) {
        RedisServer former = group.master();
        long struckAt = System.nanoTime();
        return switch (fault) {
            case KILL -> {
                former.kill();
                yield new Outage(struckAt, promoted(former), () -> {}, () -> {
                    former.restart();
                    former.replicaOf(group.master());
                });
            }
            case PAUSE -> {
                former.pause();
                // The sentinels may demote it sooner. They take about ten seconds.
                yield new Outage(struckAt, promoted(former), former::resume, () -> former.replicaOf(group.master()));
            }
            case DEMOTE -> {
                group.setDownAfter(DOWN_AFTER);
                stopWrites(former);
                RedisServer promoted = group.failOver();
                former.replicaOf(promoted);
                allowWrites(former);
                yield new Outage(
                        struckAt, System.nanoTime(), () -> {}, () -> group.setDownAfter(RedisSentinels.DOWN_AFTER));
            }
            default -> throw new IllegalArgumentException("Sentinel does not know " + fault);
        };
    }

    /**
     * Otherwise the former master acknowledges writes until the sentinels demote it, ten seconds after the promotion. The
     * pause is shorter than {@link #DOWN_AFTER}: the sentinels publish on each server, so their connections are blocked, too,
     * and after that time they would begin a second fail-over.
     */
    private static void stopWrites(RedisServer former) {
        try (RawRedis redis = former.connect()) {
            redis.command("CLIENT", "PAUSE", "4000", "WRITE");
        }
    }

    private static void allowWrites(RedisServer former) {
        try (RawRedis redis = former.connect()) {
            redis.command("CLIENT", "UNPAUSE");
        }
    }

    private long promoted(RedisServer former) {
        group.awaitOtherMaster(former);
        return System.nanoTime();
    }

    @Override
    public long lastPromotionAt() {
        return group.switchedAt();
    }

    @Override
    public void onEachServer(String... command) {
        Topology.onRunning(group.servers(), command);
    }

    @Override
    public String version() {
        return group.servers().get(0).version();
    }

    @Override
    public void close() {
        group.close();
    }

    @Override
    public String toString() {
        return "Sentinel";
    }
}
