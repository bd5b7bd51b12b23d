package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.admin.OutboxAdmin;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Starts the relay of the outbox before all that may send, and stops it after that. Stop and start may be repeated. */
final class OutboxLifecycle implements SmartLifecycle {

    /** Above that of the connections to Redis, below those of listeners, web servers and executors. */
    static final int PHASE = 1000;

    private static final Duration GRACE = Duration.ofSeconds(2);

    private final Supplier<@Nullable OutboxAdmin> relay;
    private volatile boolean running;

    /** @param relay null without an outbox */
    OutboxLifecycle(Supplier<@Nullable OutboxAdmin> relay) {
        this.relay = relay;
    }

    @Override
    public void start() {
        OutboxAdmin present = relay.get();
        if (present != null) {
            present.start();
            running = true;
        }
    }

    @Override
    public void stop() {
        running = false;
        OutboxAdmin present = relay.get();
        if (present != null) {
            present.stop(GRACE);
        }
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
