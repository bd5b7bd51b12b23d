package io.easykit.delayqueue.engine;

import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * What the consumers of a container share.
 *
 * @param limiter   free calls of the handler
 * @param workers  runs handlers
 * @param isPaused whether the container shall claim nothing for now
 * @param shardsKept takes the number of shards that the store has kept
 */
record ContainerContext(
        EngineContext engine,
        MessageExecution.HandlerContext runs,
        ConcurrencyLimiter limiter,
        Workers workers,
        BooleanSupplier isPaused,
        IntConsumer shardsKept) {}
