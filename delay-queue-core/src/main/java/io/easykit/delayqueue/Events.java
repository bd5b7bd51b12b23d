package io.easykit.delayqueue;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells all listeners, and survives what they throw. */
final class Events {

    private static final Logger log = LoggerFactory.getLogger(Events.class);

    private final List<DelayQueueListener> listeners;

    Events(List<DelayQueueListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    void emit(DelayQueueEvent event) {
        for (DelayQueueListener listener : listeners) {
            try {
                listener.onEvent(event);
                tell(listener, event);
            } catch (Throwable e) {
                log.warn("A listener failed on {}", event, e);
            }
        }
    }

    private static void tell(DelayQueueListener listener, DelayQueueEvent event) {
        if (event instanceof DelayQueueEvent.Sent e) {
            listener.onSent(e);
        } else if (event instanceof DelayQueueEvent.Delivered e) {
            listener.onDelivered(e);
        } else if (event instanceof DelayQueueEvent.Completed e) {
            listener.onCompleted(e);
        } else if (event instanceof DelayQueueEvent.Failed e) {
            listener.onFailed(e);
        } else if (event instanceof DelayQueueEvent.Died e) {
            listener.onDied(e);
        } else if (event instanceof DelayQueueEvent.LeaseLost e) {
            listener.onLeaseLost(e);
        } else if (event instanceof DelayQueueEvent.SettledLate e) {
            listener.onSettledLate(e);
        } else if (event instanceof DelayQueueEvent.LeaseExpired e) {
            listener.onLeaseExpired(e);
        } else if (event instanceof DelayQueueEvent.AlertRaised e) {
            listener.onAlertRaised(e);
        } else if (event instanceof DelayQueueEvent.AlertResolved e) {
            listener.onAlertResolved(e);
        }
    }
}
