package io.easykit.delayqueue.engine;

import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Starts and stops the heartbeat of this node. Its name is free only after it has left, so one heartbeat follows the other. */
final class Membership {

    private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(1);

    private final Heartbeat.Node node;
    private final EngineContext engine;
    private final Function<String, @Nullable Duration> noConsumerLimits;
    private @Nullable Heartbeat current;
    private @Nullable Heartbeat last;

    /** @param noConsumerLimits by topic, how long due messages may be without a consumer; null for no limit */
    Membership(Heartbeat.Node node, EngineContext engine, Function<String, @Nullable Duration> noConsumerLimits) {
        this.node = node;
        this.engine = engine;
        this.noConsumerLimits = noConsumerLimits;
    }

    /** Does nothing if it has joined already. */
    synchronized void join() {
        if (current != null) {
            return;
        }
        ConsumerWatch watch = new ConsumerWatch(engine, noConsumerLimits);
        Sampler sampler = new Sampler(engine.store(), engine.loops()::nanos);
        Heartbeat created = new Heartbeat(node, engine, last, beat -> {
            watch.check(); // first: a sampler that is refused must not silence the alert
            sampler.onBeat(beat);
        });
        created.start();
        // The listeners of an application start after its node has joined.
        engine.listeners().onStarted(created::beatNow);
        current = created;
        last = created;
    }

    /** Waits at most a second for the store. */
    void leave() {
        Heartbeat ending = beginLeaving();
        if (ending != null) {
            ending.awaitEnd(LEAVE_TIMEOUT);
        }
    }

    /** Leaves without waiting. */
    synchronized @Nullable Heartbeat beginLeaving() {
        Heartbeat ending = current;
        current = null;
        if (ending != null) {
            engine.listeners().onStarted(() -> {});
            ending.stop();
        }
        return ending;
    }
}
