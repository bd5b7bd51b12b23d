package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs why consumers have to wait. A store that does not answer is an outage: its begin and its end are logged once, however
 * many consumers notice it. A refusal or a defect lasts until it is fixed, and is logged for each shard, also during an
 * outage.
 */
final class StandstillLog {

    private static final Logger log = LoggerFactory.getLogger(StandstillLog.class);

    /** What comes in so short a time after one another has one cause. */
    private static final long ONE_OUTAGE = TimeUnit.SECONDS.toNanos(10);

    private final LongSupplier nanos;
    private final Map<Object, ShardKey> unanswered = new HashMap<>();
    private final Map<Object, String> refused = new HashMap<>();
    private final Map<ShardKey, String> refusedBodies = new HashMap<>();
    private long toldLost;
    private long toldFound;

    /** @param nanos a clock that only goes forward */
    StandstillLog(LongSupplier nanos) {
        this.nanos = nanos;
        toldLost = nanos.getAsLong() - ONE_OUTAGE;
        toldFound = toldLost;
    }

    synchronized void lost(Object consumer, ShardKey shard, Throwable e) {
        if (e instanceof StoreUnavailableException) {
            if (unanswered.put(consumer, shard) == null && (unanswered.size() == 1 || isOver(toldLost))) {
                toldLost = nanos.getAsLong();
                log.warn(
                        "Delivery of {} is interrupted, and resumes by itself: {}",
                        shard,
                        LogText.of(String.valueOf(e.getMessage())));
            }
            return;
        }
        unanswered.remove(consumer);
        if (!e.toString().equals(refused.put(consumer, e.toString()))) {
            // A reply of the store needs no stack trace; anything else is a defect.
            Throwable defect = e instanceof DelayQueueException ? null : e;
            log.warn(
                    "Delivery of {} has stopped until this is fixed, and is tried every second: {}",
                    shard,
                    LogText.of(String.valueOf(e.getMessage())),
                    defect);
        }
    }

    synchronized void found(Object consumer, ShardKey shard) {
        if (refused.remove(consumer) != null) {
            log.info("Delivery of {} has resumed", shard);
        }
        if (unanswered.remove(consumer) != null && (unanswered.isEmpty() || isOver(toldFound))) {
            toldFound = nanos.getAsLong();
            log.info(
                    "The store answers again. Delivery of {} has resumed; {} others still wait",
                    shard,
                    unanswered.size());
        }
    }

    /** The store refuses to read large bodies of a shard. Other messages of it are delivered. */
    synchronized void bodiesRefused(ShardKey shard, StoreRefusedException e) {
        String text = String.valueOf(e.getMessage());
        if (!text.equals(refusedBodies.put(shard, text))) {
            log.warn(
                    "Large messages of {} do not run until this is fixed, and are tried every second: {}",
                    shard,
                    LogText.of(text));
        }
    }

    synchronized void bodiesRead(ShardKey shard) {
        if (refusedBodies.remove(shard) != null) {
            log.info("Large messages of {} run again", shard);
        }
    }

    /** The shards whose consumers on this node get no answer. */
    synchronized Set<ShardKey> unanswered() {
        return new HashSet<>(unanswered.values());
    }

    /** The consumer has ended. */
    synchronized void forget(Object consumer) {
        unanswered.remove(consumer);
        refused.remove(consumer);
    }

    private boolean isOver(long told) {
        return nanos.getAsLong() - told >= ONE_OUTAGE;
    }
}
