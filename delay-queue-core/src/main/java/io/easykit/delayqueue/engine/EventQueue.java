package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.time.LoopExecutor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the events of loops to listeners, in their order, on a thread of its own. A loop renews leases, so a slow listener
 * on its thread would let other leases expire. The queue is bounded: a listener that falls {@link #MOST} events behind loses
 * the newer ones, and a warning is logged. Alerts are not dropped until the engine stops, because the store counts them as reported. They
 * are few: one for each topic and kind every ten seconds at most.
 */
final class EventQueue implements LoopExecutor.Step {

    /** About two megabytes. */
    static final int MOST = 10_000;

    private static final Logger log = LoggerFactory.getLogger(EventQueue.class);

    private final Events events;
    private final LoopExecutor loops;

    // Guarded by this.
    private final Deque<DelayQueueEvent> waiting = new ArrayDeque<>();
    private LoopExecutor.@Nullable Loop loop;
    private boolean delivering;
    private boolean closed;
    private boolean lacksThread;
    private long dropped;

    EventQueue(Events events, LoopExecutor loops) {
        this.events = events;
        this.loops = loops;
    }

    /** Returns at once. The thread starts with the first event. */
    void emit(DelayQueueEvent event) {
        LoopExecutor.Loop current;
        synchronized (this) {
            if (closed) {
                return;
            }
            if (waiting.size() < MOST || isAlert(event)) {
                waiting.add(event);
            } else if (dropped++ == 0) {
                warnOfOverflow();
            }
            current = started();
        }
        if (current != null) {
            current.wake();
        }
    }

    private static boolean isAlert(DelayQueueEvent event) {
        return event instanceof DelayQueueEvent.AlertRaised || event instanceof DelayQueueEvent.AlertResolved;
    }

    /** Null if no thread can be made. The next event tries again. */
    private LoopExecutor.@Nullable Loop started() {
        if (loop == null) {
            try {
                LoopExecutor.Loop created = loops.create("delay-queue-events", this);
                created.start();
                loop = created;
            } catch (Throwable e) {
                if (!lacksThread) {
                    lacksThread = true;
                    log.warn(
                            "Events wait, because no thread can be started for them. Each further event tries again: {}",
                            ErrorText.lineOf(e));
                }
            }
        }
        return loop;
    }

    @Override
    public long run() {
        for (DelayQueueEvent event = next(); event != null; event = next()) {
            boolean before = Thread.currentThread().isInterrupted();
            events.emit(event);
            if (!before) {
                // It was meant for this event's listener. The next one must not find it.
                var unused = Thread.interrupted();
            }
        }
        synchronized (this) {
            return closed ? LoopExecutor.END : LoopExecutor.NEVER;
        }
    }

    private synchronized @Nullable DelayQueueEvent next() {
        DelayQueueEvent next = waiting.poll();
        delivering = next != null;
        if (next == null) {
            notifyAll();
            if (dropped > 0) {
                log.warn("{} events were not delivered to the listeners of this application", dropped);
                dropped = 0;
            }
        }
        return next;
    }

    private void warnOfOverflow() {
        if (loop != null) {
            log.warn(
                    "The listeners of delay-queue events are too slow: {} events wait for them, and newer ones, except for"
                            + " alerts, are dropped until they catch up. Counts and dead letters in the store are complete."
                            + " Let listeners return soon, and do slow work on threads of your own.",
                    waiting.size());
        }
    }

    /** Waits until all events are delivered, at most so long. */
    synchronized void awaitDelivered(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        for (long rest = nanos; (delivering || !waiting.isEmpty()) && rest > 0; rest = deadline - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, rest);
        }
    }

    /** Ends the thread once the events that wait are delivered. Later events are dropped. */
    void close() {
        LoopExecutor.Loop current;
        synchronized (this) {
            closed = true;
            current = loop;
        }
        if (current != null) {
            current.wake();
        }
    }
}
