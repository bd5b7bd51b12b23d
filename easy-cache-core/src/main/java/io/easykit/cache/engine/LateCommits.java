package io.easykit.cache.engine;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Updates whose work may be committed after they have ended. They stay prepared until then, for their lease at most, so that no
 * reader stores the old value meanwhile. When the work is closed, they are invalidated again.
 *
 * <p>An update in {@code afterCommit} or {@code afterCompletion} may work on the connection of the transaction that has just
 * ended. That work is committed when the transaction manager gives the connection back, which nothing reports.
 */
final class LateCommits {

    private static final Logger log = LoggerFactory.getLogger(LateCommits.class);

    /** A connection that is not given back for so long is not waited for, so that nothing stays for ever. */
    static final Duration LONGEST = Duration.ofMinutes(10);

    /** The recovery and the renewal of marks wait for a round. At a stop the pending invalidations do. */
    private static final Duration LONGEST_ROUND = Duration.ofSeconds(1);

    private final Queue<Late> waiting = new ConcurrentLinkedQueue<>();
    private final int mostHeldUp;
    private final Ticker ticker;

    /** @param mostHeldUp maximum number of second ends that wait for a delivery; beyond it all of them are left to epochs */
    LateCommits(int mostHeldUp, Ticker ticker) {
        this.mostHeldUp = mostHeldUp;
        this.ticker = ticker;
    }

    /**
     * @param open whether the work may still have to be committed; called on another thread
     * @param end ends the updates
     */
    void add(BooleanSupplier open, Runnable end) {
        waiting.add(new Late(open, end, ticker.nanoTime()));
    }

    /**
     * Ends the updates without open work. Begins second ends for at most one second, because there may be thousands after an outage.
     * The rest wait for the next call; after a stop the marks that Redis acknowledged end by their leases. An update that it did
     * not acknowledge has no mark, and does not end a second time. After an interrupt all wait.
     */
    void endClosed() {
        long begin = ticker.nanoTime();
        leaveIfTooMany();
        AllCalls.forEach(List.copyOf(waiting), late -> {
            if (late.open instanceof SecondTime && ticker.nanoTime() - begin >= LONGEST_ROUND.toNanos()) {
                return;
            }
            // An interrupt stops the worker, and calls of Redis would fail. Several threads may look at the same time.
            if (!Thread.currentThread().isInterrupted() && isOver(late) && waiting.remove(late)) {
                late.end.run();
            }
        });
    }

    /** All at once, because each time drops all entries of their prefixes. */
    private void leaveIfTooMany() {
        if (waiting.size() <= mostHeldUp) {
            return;
        }
        List<SecondTime> heldUp = waiting.stream()
                .map(late -> late.open)
                .filter(SecondTime.class::isInstance)
                .map(SecondTime.class::cast)
                .filter(SecondTime::isHeldUp)
                .toList();
        if (heldUp.size() > mostHeldUp) {
            heldUp.forEach(SecondTime::leaveToEpochs);
        }
    }

    private boolean isOver(Late late) {
        return !late.open.getAsBoolean()
                || (!(late.open instanceof SecondTime) && ticker.nanoTime() - late.since > LONGEST.toNanos());
    }

    /** Reports the updates that wait for their end: no worker ends them any more. Those that wait for a second one have taken effect. */
    void stopped(String clusterId) {
        long left = waiting.stream()
                .filter(late -> !(late.open instanceof SecondTime))
                .count();
        if (left > 0) {
            log.warn(
                    "Updates that had not ended in Redis '{}' when the cache was stopped: {}. They end with the lease of"
                            + " their preparation ('update-lease', 30 s by default). Until then their entries are loaded"
                            + " and not stored, and other nodes may return old values of caches that they clear. What could"
                            + " not be prepared stays until its TTL. Stop the cache after the transactions have ended.",
                    clusterId,
                    left);
        }
    }

    /** Whether an update that has taken effect still waits for its second end. Their number is bounded, not their time. */
    interface SecondTime extends BooleanSupplier {

        /** Whether it waits for a delivery, which may take as long as an outage. */
        default boolean isHeldUp() {
            return false;
        }

        /** Stops waiting for deliveries: after them, the epochs of all prefixes of the update are raised instead. */
        default void leaveToEpochs() {}
    }

    /** The updates of one thread. */
    private record Late(BooleanSupplier open, Runnable end, long since) {}
}
