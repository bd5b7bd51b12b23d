package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Visits many things in rounds of a bounded time, because the next heartbeat must not be late. A round begins with the things
 * that the last one did not reach. One that the store refuses, or does not answer for, has had its turn.
 */
final class BoundedRound<T> {

    private static final Logger log = LoggerFactory.getLogger(BoundedRound.class);

    /** No visit begins after this time. A visit without an answer takes the command timeout, or twice that. */
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final LongSupplier nanos;
    private final Set<T> left = new LinkedHashSet<>();

    /** @param nanos a clock that only moves forward */
    BoundedRound(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** Whether each thing has had its turn. */
    boolean isComplete() {
        return left.isEmpty();
    }

    /** Adds things behind those that are left. One that is left keeps its place. */
    void add(Collection<? extends T> things) {
        left.addAll(things);
    }

    void clear() {
        left.clear();
    }

    void run(Consumer<? super T> visit) {
        long end = nanos.getAsLong() + MOST_NANOS;
        while (!left.isEmpty() && nanos.getAsLong() - end < 0) {
            Iterator<T> first = left.iterator();
            T thing = first.next();
            first.remove();
            try {
                visit.accept(thing);
            } catch (DelayQueueException e) {
                log.debug("{} has its next turn later", thing, e);
            }
        }
    }
}
