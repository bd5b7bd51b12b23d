package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.TopicStore;
import io.easykit.delayqueue.support.LogText;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps a shard for what calls that failed half way have left: once a minute from its first page to its last, a few pages at
 * a time.
 */
final class Repairs {

    private static final Logger log = LoggerFactory.getLogger(Repairs.class);

    private static final long PAUSE = TimeUnit.MINUTES.toNanos(1);

    /** Pages of about a hundred messages for each check; the others follow at the next one. */
    private static final int MOST_PAGES = 10;

    private static final int MOST_IDS_IN_LOG = 5;

    private final TopicStore store;
    private final ShardKey shard;
    private final LongSupplier nanos;
    private String position = Repaired.BEGIN;
    private long nextSweep;
    private String refusal = "";

    /** @param nanos a clock that only goes forward */
    Repairs(TopicStore store, ShardKey shard, LongSupplier nanos) {
        this.store = store;
        this.shard = shard;
        this.nanos = nanos;
        this.nextSweep = nanos.getAsLong();
    }

    ShardKey shard() {
        return shard;
    }

    /** Goes on with a sweep, or begins one if it is time. Returns false if the store did not answer. */
    boolean look() {
        if (nanos.getAsLong() - nextSweep < 0) {
            return true;
        }
        try {
            sweep();
            refusal = "";
        } catch (StoreUnavailableException e) {
            log.debug("The sweep of {} goes on later", shard, e);
            return false;
        } catch (DelayQueueException e) {
            refused(e);
        }
        return true;
    }

    private void sweep() {
        List<String> putBack = new ArrayList<>();
        long leftovers = 0;
        try {
            for (int page = 0; page < MOST_PAGES; page++) {
                Repaired repaired = store.repair(shard, position);
                putBack.addAll(repaired.putBack());
                leftovers += repaired.leftovers();
                tellCounters(repaired.counters());
                position = repaired.isLast() ? Repaired.BEGIN : repaired.next();
                if (repaired.isLast()) {
                    nextSweep = nanos.getAsLong() + PAUSE;
                    return;
                }
            }
        } finally {
            tell(putBack, leftovers);
        }
    }

    private void tell(List<String> putBack, long leftovers) {
        if (!putBack.isEmpty()) {
            log.warn(
                    "{} messages of {} were in no set of their shard and are delivered again, such as {}. A call failed"
                            + " half way before: look for what Redis refused",
                    putBack.size(),
                    shard,
                    putBack.stream().limit(MOST_IDS_IN_LOG).map(LogText::of).toList());
        }
        if (leftovers > 0) {
            log.info("{} entries of messages of {} that had ended or moved were removed", leftovers, shard);
        }
    }

    private void tellCounters(List<String> counters) {
        if (!counters.isEmpty()) {
            log.warn(
                    "The counters {} of {} were missing or no numbers: they are set to what the messages say",
                    counters,
                    shard);
        }
    }

    private void refused(DelayQueueException e) {
        position = Repaired.BEGIN;
        nextSweep = nanos.getAsLong() + PAUSE;
        String text = String.valueOf(e.getMessage());
        if (!text.equals(refusal)) {
            refusal = text;
            log.warn(
                    "The sweep of shard {} for lost messages does not end until this is fixed, and is tried every minute: {}",
                    shard,
                    LogText.of(text));
        }
    }
}
