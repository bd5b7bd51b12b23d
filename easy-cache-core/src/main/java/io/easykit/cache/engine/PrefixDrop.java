package io.easykit.cache.engine;

import io.easykit.cache.store.StoreUnavailableException;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Invalidates all entries of a prefix in one Redis, by raising its epochs. A load that has begun before is stored under the old
 * epoch, so no reader gets it.
 */
final class PrefixDrop {

    private static final Logger log = LoggerFactory.getLogger(PrefixDrop.class);

    private final Epochs epochs;
    private final InvalidationDelivery delivery;
    private final Ticker ticker;

    PrefixDrop(Epochs epochs, InvalidationDelivery delivery, Ticker ticker) {
        this.epochs = epochs;
        this.delivery = delivery;
        this.ticker = ticker;
    }

    /**
     * Raises the epochs. One that cannot be raised now is raised before the cluster is read again, and until then no reader of
     * this node gets an entry of the prefix from Redis.
     *
     * @return whether all were raised
     */
    boolean drop(String prefix) {
        delivery.local().clear();
        boolean raised = true;
        for (int hash = 0; hash < delivery.store().epochHashes(); hash++) {
            raised &= raise(hash, prefix);
        }
        return raised;
    }

    private boolean raise(int hash, String prefix) {
        try {
            epochs.raise(hash, List.of(prefix));
        } catch (StoreUnavailableException away) {
            log.debug("All of '{}' is dropped when Redis cluster '{}' answers", prefix, delivery.clusterId(), away);
            delivery.pending().overflow(hash, prefix);
            return false;
        }
        if (delivery.store().epochHashes() > 1) {
            delivery.pending().raiseAgain(hash, Set.of(prefix), EpochUpkeep.seenEverywhere(ticker.nanoTime()));
        }
        return true;
    }
}
