package io.easykit.cache.history;

import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** One Redis that keeps its data, with a line for each node. */
final class SingleServer implements Servers {

    /** Until each node has reconnected, and repeated its invalidations. */
    private static final Duration REPEATED = Duration.ofSeconds(10);

    private final RedisServer redis = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
    private final List<TcpProxy> lines = new ArrayList<>();
    private final List<Loss> losses = new ArrayList<>();

    SingleServer(int nodes) {
        for (int i = 0; i < nodes; i++) {
            lines.add(TcpProxy.to(redis));
        }
    }

    @Override
    public String addressFor(int node) {
        return lines.get(node).host() + ":" + lines.get(node).port();
    }

    @Override
    public List<Fault> faults() {
        List<Fault> all = new ArrayList<>(List.of(
                restart(),
                new Fault("pause of Redis", "redis", false, () -> {
                    redis.pause();
                    return redis::resume;
                }),
                new Fault("restart of Redis without its data", "redis", true, this::loseData)));
        for (int node = 0; node < lines.size(); node++) {
            all.add(lostReplies(node));
            all.add(onLine("cut", node, TcpProxy::cut));
            all.add(onLine("frozen line", node, TcpProxy::freeze));
            all.add(onLine("lost requests", node, line -> line.dropRequests(true)));
            all.add(onLine("one lost reply", node, TcpProxy::dropNextReply));
        }
        return all;
    }

    Fault restart() {
        return new Fault("restart of Redis", "redis", false, () -> {
            redis.kill();
            return redis::restart;
        });
    }

    Fault lostReplies(int node) {
        return onLine("lost replies", node, line -> line.dropReplies(true));
    }

    private Fault onLine(String name, int node, Consumer<TcpProxy> strike) {
        TcpProxy line = lines.get(node);
        return new Fault(name + " of node " + node, "line " + node, false, () -> {
            strike.accept(line);
            return line::heal;
        });
    }

    private Runnable loseData() {
        long from = System.nanoTime();
        redis.flush();
        redis.kill();
        return () -> {
            redis.restart();
            long served = System.nanoTime();
            losses.add(new Loss(from, served, served + REPEATED.toNanos()));
        };
    }

    @Override
    public List<Loss> losses() {
        return losses;
    }

    @Override
    public void close() {
        lines.forEach(TcpProxy::close);
        redis.close();
    }
}
