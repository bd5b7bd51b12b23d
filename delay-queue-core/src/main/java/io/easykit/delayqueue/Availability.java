package io.easykit.delayqueue;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says once that the store is away, however many consumers notice, and once that it is back. */
final class Availability {

    private static final Logger log = LoggerFactory.getLogger(Availability.class);

    private final Set<Object> troubled = new HashSet<>();

    synchronized void lost(Object consumer, ShardKey shard, RuntimeException e) {
        if (troubled.add(consumer) && troubled.size() == 1) {
            // What the store says needs no stack; anything else is a defect.
            Throwable defect = e instanceof DelayQueueException ? null : e;
            log.warn("Delivery of {} has to wait, and goes on by itself: {}", shard, e.getMessage(), defect);
        }
    }

    synchronized void found(Object consumer) {
        if (troubled.remove(consumer) && troubled.isEmpty()) {
            log.info("The store answers again, delivery goes on");
        }
    }

    /** The consumer has ended. */
    synchronized void forget(Object consumer) {
        troubled.remove(consumer);
    }
}
