package io.easykit.delayqueue;

import java.util.function.Function;

/**
 * What the containers of an engine share.
 *
 * @param workers makes what runs the handlers of a container
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
        Function<ListenerEndpoint, Workers> workers,
        String node) {}
