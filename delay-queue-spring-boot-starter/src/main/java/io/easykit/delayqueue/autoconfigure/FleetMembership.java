package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.engine.DelayQueueEngine;
import java.util.function.Supplier;
import org.springframework.context.SmartLifecycle;

/**
 * Reports this node to the others while the application runs. Starts before the listeners and stops after them, so that
 * the others see a node that is stopping. Stop and start may be repeated.
 */
final class FleetMembership implements SmartLifecycle {

    /** Below that of the listeners. */
    static final int PHASE = Integer.MAX_VALUE - 1;

    private final Supplier<DelayQueueEngine> engine;
    private volatile boolean running;

    FleetMembership(Supplier<DelayQueueEngine> engine) {
        this.engine = engine;
    }

    @Override
    public void start() {
        engine.get().join();
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        engine.get().leave();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
