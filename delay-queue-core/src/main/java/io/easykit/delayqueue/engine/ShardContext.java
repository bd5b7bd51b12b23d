package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.util.function.LongSupplier;

/**
 * Shared by the parts of a {@link ShardConsumer}.
 *
 * @param events log lines and events of the shard
 * @param clock   of this node, in nanoseconds; it only moves forward
 */
record ShardContext(
        ShardKey shard, ListenerEndpoint endpoint, QueueBackend store, ShardEvents events, LongSupplier clock) {

    long nanos() {
        return clock.getAsLong();
    }

    long leaseNanos() {
        return endpoint.lease().toNanos();
    }
}
