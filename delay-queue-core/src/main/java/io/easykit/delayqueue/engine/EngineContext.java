package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Shared by the containers of an engine.
 *
 * @param events     for handler threads: delivers on the calling thread
 * @param loopEvents for loops: delivers on a thread of its own
 * @param lines      for log lines about single messages
 * @param workers    creates the executor of handlers of a container
 * @param jobs       of the administration: runs while a listener does
 * @param replicaWaits by topic, for messages that the engine sends itself
 * @param commandTimeout maximum time of the store to wait for a reply
 * @param node       name of this process
 * @param leaseClocks for consumers that start
 */
record EngineContext(
        QueueBackend store,
        BodyReader bodies,
        Topics topics,
        TopicSettingsGuard settingsGuard,
        RunningListeners listeners,
        PayloadCodec codec,
        Events events,
        EventQueue loopEvents,
        StandstillLog standstills,
        RepeatedLines lines,
        LoopExecutor loops,
        Workers.Factory workers,
        JobRunner jobs,
        Function<String, @Nullable ReplicaWait> replicaWaits,
        Duration commandTimeout,
        String node,
        LeaseClocks leaseClocks) {}
