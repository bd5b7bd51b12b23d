package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import org.springframework.context.ApplicationEventPublisher;

/** Makes application events of deaths and alerts, which call for somebody's attention. */
final class ApplicationEvents implements DelayQueueListener {

    private final ApplicationEventPublisher publisher;

    ApplicationEvents(ApplicationEventPublisher publisher) {
        this.publisher = publisher;
    }

    @Override
    public void onDied(DelayQueueEvent.Died event) {
        publisher.publishEvent(event);
    }

    @Override
    public void onAlertRaised(DelayQueueEvent.AlertRaised event) {
        publisher.publishEvent(event);
    }

    @Override
    public void onAlertResolved(DelayQueueEvent.AlertResolved event) {
        publisher.publishEvent(event);
    }
}
