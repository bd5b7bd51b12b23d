package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.listener.DelayListenerRegistry;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;

/**
 * Stops the listeners when their context begins to close, before any bean of the context stops. By phases alone the
 * {@code SmartLifecycle} beans of the application would stop first: they have the same phase by default, and are defined earlier.
 */
final class ListenersStopFirst implements ApplicationListener<ContextClosedEvent>, Ordered {

    private static final Logger log = LoggerFactory.getLogger(ListenersStopFirst.class);

    private final ApplicationContext context;
    private final Supplier<DelayListenerRegistry> registry;

    ListenersStopFirst(ApplicationContext context, Supplier<DelayListenerRegistry> registry) {
        this.context = context;
        this.registry = registry;
    }

    /** A parent also receives the events of its children, whose listeners are stopped by their own context. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (event.getApplicationContext() != context) {
            return;
        }
        try {
            registry.get().stop(() -> {});
        } catch (RuntimeException | Error e) {
            // Other listeners of the event must still be called. The lifecycle repeats the stop.
            log.debug("The listeners have not stopped before the other beans. They stop with their phase", e);
        }
    }

    /** Other beans stop after the event. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }

    /** Before the executors of the application, which accept no more tasks from this event on. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
