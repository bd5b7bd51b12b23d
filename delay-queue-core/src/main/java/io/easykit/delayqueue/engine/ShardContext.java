package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Shared by the parts of a {@link ShardConsumer}.
 *
 * @param limits share of the shard
 * @param lenders of further permits
 * @param leaseClocks of all shards
 * @param events log lines and events of the shard
 * @param commandTimeout maximum time of the store to wait for a reply
 * @param clock   of this node, in nanoseconds; it only moves forward
 */
record ShardContext(
        ShardKey shard,
        ListenerEndpoint endpoint,
        FlowShare limits,
        Lenders lenders,
        LeaseClocks leaseClocks,
        QueueBackend store,
        ShardEvents events,
        Duration commandTimeout,
        LongSupplier clock) {

    static ShardContext of(ContainerContext container, ShardKey shard) {
        EngineContext engine = container.engine();
        ListenerEndpoint endpoint = container.runs().endpoint();
        return new ShardContext(
                shard,
                endpoint,
                FlowShare.of(endpoint.limits(), shard.shard(), container.shards()),
                container.lenders(),
                engine.leaseClocks(),
                engine.store(),
                new ShardEvents(shard, endpoint, engine.events(), engine.loopEvents(), engine.lines()),
                engine.commandTimeout(),
                engine.loops()::nanos);
    }

    long nanos() {
        return clock.getAsLong();
    }

    long leaseNanos() {
        return endpoint.lease().toNanos();
    }
}
