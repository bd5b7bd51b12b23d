package io.easykit.delayqueue.metrics;

import io.easykit.delayqueue.store.ShardKey;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Checks that Redis replies. In a Redis Cluster one master that replies is enough: the numbers of topics show which masters are away.
 * Reads shards that are never used, which creates no key. The slots of these shards are far apart, so that they belong to different
 * masters. One read is enough until its master is away. Then the next one is read, and stays the first.
 */
public final class MasterPing implements Runnable {

    /** In this order each one and the next, and the last one and the first, belong to different masters of three or more. */
    static final List<ShardKey> SHARDS =
            Stream.of(0, 3, 12).map(number -> new ShardKey("health", number)).toList();

    /** Each may cost a timeout, and a scrape waits for them. */
    private static final int MOST_READS = 2;

    private final Consumer<ShardKey> read;
    private int first;

    public MasterPing(Consumer<ShardKey> read) {
        this.read = read;
    }

    /** Throws the last failure if no read succeeds. */
    @Override
    public synchronized void run() {
        for (int reads = 1; ; reads++) {
            try {
                read.accept(SHARDS.get(first));
                return;
            } catch (RuntimeException away) {
                first = (first + 1) % SHARDS.size();
                if (reads == MOST_READS) {
                    throw away;
                }
            }
        }
    }
}
