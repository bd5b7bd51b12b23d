package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Publishes dead letters and alerts as application events. Event listeners may not be ready while the application
 * starts, so events are kept until then.
 */
final class ApplicationEvents implements DelayQueueListener, ApplicationListener<ContextRefreshedEvent> {

    private final ApplicationEventPublisher publisher;
    private @Nullable Queue<DelayQueueEvent> kept = new ArrayDeque<>();

    ApplicationEvents(ApplicationEventPublisher publisher) {
        this.publisher = publisher;
    }

    @Override
    public void onDied(DelayQueueEvent.Died event) {
        publish(event);
    }

    @Override
    public void onAlertRaised(DelayQueueEvent.AlertRaised event) {
        publish(event);
    }

    @Override
    public void onAlertResolved(DelayQueueEvent.AlertResolved event) {
        publish(event);
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() == publisher) {
            for (DelayQueueEvent next = takeKept(); next != null; next = takeKept()) {
                publisher.publishEvent(next);
            }
        }
    }

    private void publish(DelayQueueEvent event) {
        if (!isKept(event)) {
            publisher.publishEvent(event);
        }
    }

    private synchronized boolean isKept(DelayQueueEvent event) {
        return kept != null && kept.add(event);
    }

    /** Returns null when none is left; from then on no event is kept. */
    private synchronized @Nullable DelayQueueEvent takeKept() {
        DelayQueueEvent first = kept == null ? null : kept.poll();
        if (first == null) {
            kept = null;
        }
        return first;
    }
}
