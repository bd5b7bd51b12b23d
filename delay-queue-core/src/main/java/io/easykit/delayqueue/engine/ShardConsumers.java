package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.ShardKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** The consumers of a container, from one start to the next stop. Shards that are added to the topic meanwhile get theirs. */
final class ShardConsumers {

    private final ContainerContext shared;
    private final String owner;
    private final CountDownLatch ended = new CountDownLatch(1);

    // Guarded by this.
    private final List<ShardConsumer> started = new ArrayList<>();
    private boolean isStopped;
    private int running;

    /** @param owner of the leases */
    ShardConsumers(ContainerContext shared, String owner) {
        this.shared = shared;
        this.owner = owner;
    }

    /** Starts consumers of further shards, unless they are to stop. An error leaves out the rest. */
    synchronized void start(List<ShardKey> shards) {
        for (ShardKey shard : shards) {
            if (!isStopped) {
                ShardConsumer consumer = new ShardConsumer(shared, shard, owner, this::end);
                consumer.start();
                started.add(consumer);
                running++;
            }
        }
    }

    /** Number of shards that have a consumer. */
    synchronized int count() {
        return started.size();
    }

    /** Signals all to end; handlers have until then to end by themselves. May be repeated. */
    void stop(long deadline) {
        List<ShardConsumer> all;
        synchronized (this) {
            isStopped = true;
            all = List.copyOf(started);
            endIfDone();
        }
        all.forEach(consumer -> consumer.stop(deadline));
    }

    synchronized void wake() {
        started.forEach(ShardConsumer::wake);
    }

    /** Is open until all have ended after a stop. */
    CountDownLatch ended() {
        return ended;
    }

    private synchronized void end() {
        running--;
        endIfDone();
    }

    private void endIfDone() {
        if (isStopped && running == 0) {
            ended.countDown();
        }
    }
}
