package io.easykit.cache.history;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisSentinels;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A master with two replicas and three sentinels. A fail-over loses what was not replicated. */
final class SentinelServers implements Servers {

    /** Until each node has reconnected, and repeated its invalidations; as in the trial of the topologies. */
    private static final Duration REPEATED = Duration.ofSeconds(5);

    private static final Duration LAG = Duration.ofMillis(300);

    private final RedisSentinels group = RedisSentinels.start(2, "--appendonly", "yes");
    private final List<Loss> losses = new ArrayList<>();

    @Override
    public String addressFor(int node) {
        return RedisSentinels.MASTER_NAME + "@" + group.addresses();
    }

    @Override
    public List<Fault> faults() {
        return List.of(
                new Fault("kill of the master", "redis", true, () -> strike(RedisServer::kill, RedisServer::restart)),
                new Fault("kill of a master whose replicas lag", "redis", true, () -> {
                    delayReplicas();
                    return strike(RedisServer::kill, RedisServer::restart);
                }),
                new Fault("pause of the master", "redis", true, () -> strike(RedisServer::pause, RedisServer::resume)));
    }

    private Runnable strike(Consumer<RedisServer> begin, Consumer<RedisServer> end) {
        RedisServer former = group.master();
        long from = System.nanoTime();
        begin.accept(former);
        RedisServer next = group.awaitOtherMaster(former);
        long served = System.nanoTime();
        losses.add(new Loss(from, served, served + REPEATED.toNanos()));
        return () -> {
            end.accept(former);
            former.replicaOf(group.master());
            group.awaitHealthy();
            noteOwnFailOver(next, served);
        };
    }

    /** On a busy machine the sentinels may also replace a master that is well. It takes writes until they demote it. */
    private void noteOwnFailOver(RedisServer expected, long from) {
        if (!group.master().equals(expected)) {
            long served = System.nanoTime();
            losses.add(new Loss(from, served, served + REPEATED.toNanos()));
            System.out.println("The sentinels replaced " + expected + ", which was well");
        }
    }

    /** Lets the replicas miss the writes of some time, as on a slow network. */
    private void delayReplicas() {
        try (RawRedis master = group.master().connect()) {
            master.command("ACL", "SETUSER", "default", "-psync", "-sync");
            master.command("CLIENT", "KILL", "TYPE", "replica");
        }
        HistoryRun.goOn(LAG);
    }

    @Override
    public List<Loss> losses() {
        return losses;
    }

    @Override
    public void close() {
        group.close();
    }
}
