package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.support.LogText;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes events to all listeners, which are supplied at the first event. Exceptions and errors of listeners and of their
 * suppliers are logged, so that no event ends the work that it is about.
 */
final class Events {

    private static final Logger log = LoggerFactory.getLogger(Events.class);

    private final List<Supplier<? extends Collection<? extends DelayQueueListener>>> sources;
    private final RepeatedLines lines;
    private volatile @Nullable List<DelayQueueListener> listeners;

    Events(List<Supplier<? extends Collection<? extends DelayQueueListener>>> sources, RepeatedLines lines) {
        this.sources = List.copyOf(sources);
        this.lines = lines;
    }

    void emit(DelayQueueEvent event) {
        for (DelayQueueListener listener : listeners(event)) {
            try {
                listener.onEvent(event);
                tell(listener, event);
            } catch (Throwable e) {
                lines.warn(log, event.topic(), "A listener failed on {}", text(event), ErrorText.printable(e));
            }
        }
    }

    private List<DelayQueueListener> listeners(DelayQueueEvent event) {
        List<DelayQueueListener> known = listeners;
        if (known == null) {
            try {
                known = sources.stream()
                        .<DelayQueueListener>flatMap(source -> source.get().stream())
                        .toList();
                listeners = known;
            } catch (Throwable e) {
                lines.warn(
                        log,
                        event.topic(),
                        "No DelayQueueListener receives {}, because the beans cannot be created",
                        text(event),
                        ErrorText.printable(e));
                return List.of();
            }
        }
        return known;
    }

    /** An event may hold an exception of the application whose {@code toString()} itself throws. */
    private static String text(DelayQueueEvent event) {
        try {
            return LogText.of(event.toString());
        } catch (Throwable e) {
            return event.getClass().getSimpleName();
        }
    }

    private static void tell(DelayQueueListener listener, DelayQueueEvent event) {
        if (event instanceof DelayQueueEvent.Sent e) {
            listener.onSent(e);
        } else if (event instanceof DelayQueueEvent.Delivered e) {
            listener.onDelivered(e);
        } else if (event instanceof DelayQueueEvent.Completed e) {
            listener.onCompleted(e);
        } else if (event instanceof DelayQueueEvent.Repeated e) {
            listener.onRepeated(e);
        } else if (event instanceof DelayQueueEvent.Failed e) {
            listener.onFailed(e);
        } else if (event instanceof DelayQueueEvent.Discarded e) {
            listener.onDiscarded(e);
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
