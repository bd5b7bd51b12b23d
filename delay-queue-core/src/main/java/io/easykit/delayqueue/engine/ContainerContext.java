package io.easykit.delayqueue.engine;

import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * Shared by the consumers of a container.
 *
 * @param limiter   permits for calls of the handler
 * @param workers  runs handlers
 * @param isPaused whether the container must claim nothing for now
 * @param shards of the topic
 * @param lenders of permits, by shard
 * @param shardsKept receives the number of shards that the store keeps
 */
record ContainerContext(
        EngineContext engine,
        MessageExecution.HandlerContext runs,
        ConcurrencyLimiter limiter,
        Workers workers,
        BooleanSupplier isPaused,
        int shards,
        Lenders lenders,
        IntConsumer shardsKept) {}
