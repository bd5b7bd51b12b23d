package io.easykit.cache.engine;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.store.Partitions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the epochs of one partition, and raises those of prefixes whose entries have to be dropped: more invalidations were
 * pending than fit, or the store has lost an epoch.
 *
 * <p>Epochs of several hashes cannot be raised at one moment. Until all nodes have read all of them, a reader can compute a
 * value from an old one, and store it under the new epoch. So they are raised once more when every node has read the first
 * ones.
 */
final class EpochUpkeep {

    private static final Logger log = LoggerFactory.getLogger(EpochUpkeep.class);

    private final Epochs epochs;
    private final InvalidationDelivery delivery;
    private final PendingInvalidations pending;
    private final CircuitBreaker breaker;
    private final Partitions partitions;
    private final int hashes;
    private final Siblings siblings;
    private final Ticker ticker;
    private long seenAt;

    /** Prefixes of which entries were updated together with dropped ones. */
    interface Siblings {

        /**
         * Raises their epochs.
         *
         * @param at ticker time
         */
        void raise(List<CacheSpec<?>> prefixes, long at);
    }

    /**
     * @param breaker that of the partition
     */
    EpochUpkeep(
            Epochs epochs, InvalidationDelivery delivery, CircuitBreaker breaker, Siblings siblings, Ticker ticker) {
        this.epochs = epochs;
        this.delivery = delivery;
        this.pending = delivery.pending();
        this.breaker = breaker;
        this.partitions = breaker.partitions();
        this.hashes = delivery.store().epochHashes();
        this.siblings = siblings;
        this.ticker = ticker;
        this.seenAt = ticker.nanoTime();
    }

    /**
     * The ticker time from which on no load of any node gets an entry from before an epoch that is raised now. Nodes read the
     * epochs once a second; one whose rounds fail reads them inside the load.
     */
    static long seenEverywhere(long now) {
        return now + Epochs.SEEN_BY_ALL.toNanos();
    }

    /** Reads the epochs. One that the store has lost is raised with the next ones. Ends clearings whose lease is over. */
    void refresh() {
        for (int hash = 0; hash < hashes; hash++) {
            if (isHere(hash)) {
                Epochs.Found found = epochs.refresh(hash);
                for (String prefix : found.missing()) {
                    pending.overflow(hash, prefix);
                }
                endExpiredClears(hash, found.clearing());
                epochs.advanceMark(hash);
            }
        }
    }

    private void endExpiredClears(int hash, Set<String> prefixes) {
        if (!prefixes.isEmpty() && epochs.endExpiredClears(hash, prefixes) && hashes > 1) {
            pending.raiseAgain(hash, prefixes, seenEverywhere(ticker.nanoTime()));
        }
    }

    /** Raises the epochs that are due. */
    void raise() {
        raiseFirst();
        raiseAgain();
    }

    /**
     * Raises the epochs that must be raised before readers are let in.
     *
     * @return false while another node may not have read the new epochs
     */
    boolean raiseBeforeReaders() {
        if (raiseFirst()) {
            seenAt = seenEverywhere(ticker.nanoTime());
        }
        if (seenAt - ticker.nanoTime() > 0) {
            return false;
        }
        raiseAgain();
        return true;
    }

    private boolean raiseFirst() {
        Map<Integer, Set<String>> left = pending.takeOverflowed(this::isHere);
        Set<String> dropped = new TreeSet<>();
        Set<String> later = new TreeSet<>();
        try {
            for (int hash : List.copyOf(left.keySet())) {
                Set<String> prefixes = left.getOrDefault(hash, Set.of());
                epochs.raise(hash, prefixes);
                left.remove(hash);
                dropped.addAll(prefixes);
                pending.raised(hash, prefixes);
                later.addAll(raiseLater(hash, prefixes));
            }
        } finally {
            left.forEach((hash, prefixes) -> {
                prefixes.forEach(prefix -> pending.overflow(hash, prefix));
                pending.raised(hash, prefixes);
            });
            dropped.forEach(this::warnOfDropped);
            warnOfSiblings(later);
        }
        return !dropped.isEmpty();
    }

    /**
     * Values computed from dropped entries may have been computed again, before every node had read the new epochs.
     *
     * @return the prefixes of entries that were updated together with dropped ones
     */
    private List<String> raiseLater(int hash, Set<String> prefixes) {
        long seen = seenEverywhere(ticker.nanoTime());
        if (hashes > 1) {
            pending.raiseAgain(hash, prefixes, seen);
        }
        List<CacheSpec<?>> together = pending.takeSiblings(hash);
        siblings.raise(together, seen);
        return together.stream().<String>map(CacheSpec::prefix).toList();
    }

    private void raiseAgain() {
        Map<Integer, Set<String>> left = pending.takeAgain(this::isHere, ticker.nanoTime());
        try {
            for (int hash : List.copyOf(left.keySet())) {
                epochs.raise(hash, left.getOrDefault(hash, Set.of()));
                left.remove(hash);
            }
        } finally {
            left.forEach((hash, prefixes) -> pending.raiseAgain(hash, prefixes, ticker.nanoTime()));
        }
    }

    private boolean isHere(int hash) {
        return partitions.ofEpochs(hash) == breaker.partition();
    }

    private void warnOfDropped(String prefix) {
        if (prefix.equals(EpochRange.EVERY_PREFIX)) {
            return; // a line of its own has told why
        }
        String where = breaker.name().isEmpty() ? "" : ", " + breaker.name() + ",";
        log.warn(
                "All entries of '{}' in Redis '{}'{} are dropped: more invalidations were pending than could be kept,"
                        + " the server has lost data, or they were cleared while it did not answer. They are loaded"
                        + " again when they are read. If outages last longer, raise"
                        + " 'easy-cache.degraded.max-pending-invalidations'",
                prefix,
                delivery.clusterId(),
                where);
    }

    private void warnOfSiblings(Set<String> prefixes) {
        if (!prefixes.isEmpty()) {
            log.warn(
                    "All entries of {} are dropped, too: they were updated together with entries whose invalidations waited"
                            + " for Redis '{}', and more of these updates waited than could be kept. They are loaded again when"
                            + " they are read. If outages last longer, raise"
                            + " 'easy-cache.degraded.max-pending-invalidations'",
                    prefixes,
                    delivery.clusterId());
        }
    }
}
