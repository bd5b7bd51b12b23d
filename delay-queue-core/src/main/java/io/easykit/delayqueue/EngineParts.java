package io.easykit.delayqueue;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What the containers of an engine share.
 *
 * @param workers runs handlers, or null: a pool for each container
 * @param node    name of this process
 */
record EngineParts(
        QueueStore store,
        Topics topics,
        RunningListeners running,
        PayloadCodec codec,
        Events events,
        Availability availability,
        Scheduler scheduler,
        @Nullable Executor workers,
        String node) {}
