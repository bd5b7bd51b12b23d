package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The time until an update that clears a cache ends for the second time.
 *
 * <p>Raised epochs reach other nodes one by one. Until all have read them, a reader can compute an entry of the same update from
 * an older value of a cleared one. So the update ends once to take effect, and stays prepared: single entries are not stored,
 * and a node that dies leaves the rest to the leases. When every node has read the epochs, it ends again: entries that were
 * computed since are dropped, and the clearing is removed.
 *
 * <p>If a clearing is not delivered for a long time, the update does not wait for it any more: so no more is kept in an outage
 * than prefixes. Those of all its keys are raised after the clearing.
 */
final class SecondEnd implements LateCommits.SecondTime {

    private final Map<CacheCluster, List<CacheKey<?>>> update;
    private final Ticker ticker;
    private final long since;
    private boolean pending;
    private long due;

    /** @param update its keys by cluster; their first end was just sent */
    SecondEnd(Map<CacheCluster, List<CacheKey<?>>> update, Ticker ticker) {
        this.update = update;
        this.ticker = ticker;
        this.since = ticker.nanoTime();
        this.pending = isPending();
        this.due = EpochUpkeep.seenEverywhere(ticker.nanoTime());
    }

    /** Whether an update must end twice. A clearing alone, whose epochs are raised in one step, need not. */
    static boolean isNeeded(Map<CacheCluster, List<CacheKey<?>>> update) {
        Collection<List<CacheKey<?>>> groups = update.values();
        if (groups.stream().noneMatch(PrefixClearing::isIn)) {
            return false;
        }
        return groups.size() > 1
                || groups.stream().anyMatch(keys -> keys.stream().anyMatch(key -> !key.isAll()))
                || update.keySet().stream()
                        .anyMatch(cluster -> !cluster.clearing().isOneStep());
    }

    /** True until it is due: earlier deliveries come first, at any time since the last call. */
    @Override
    public synchronized boolean getAsBoolean() {
        boolean before = pending;
        pending = isPending();
        if (pending && ticker.nanoTime() - since > LateCommits.LONGEST.toNanos()) {
            leaveToEpochs();
            return false;
        }
        if (before || pending) {
            due = EpochUpkeep.seenEverywhere(ticker.nanoTime());
        }
        return due - ticker.nanoTime() > 0;
    }

    private boolean isPending() {
        return update.entrySet().stream().anyMatch(group -> group.getValue().stream()
                .anyMatch(group.getKey().clearing()::isPending));
    }

    private void leaveToEpochs() {
        update.forEach((cluster, keys) -> {
            Set<CacheSpec<?>> others = othersOf(cluster);
            PrefixClearing.clearedBy(keys)
                    .forEach(key -> cluster.pending().raiseAfter(key.spec().prefix(), others));
        });
    }

    /** Clearings in one hash are raised in one step. */
    private Set<CacheSpec<?>> othersOf(CacheCluster cluster) {
        Set<CacheSpec<?>> others = new LinkedHashSet<>();
        update.forEach((other, keys) -> {
            boolean together = other == cluster && cluster.clearing().isOneStep();
            (together ? PrefixClearing.entriesOf(keys) : keys).forEach(key -> others.add(key.spec()));
        });
        return others;
    }
}
