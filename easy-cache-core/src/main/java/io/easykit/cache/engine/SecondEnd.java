package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The time until an update that clears a cache ends for the second time.
 *
 * <p>Raised epochs reach other nodes one by one. Until all have read them, a reader can compute an entry of the same update from
 * an older value of a cleared one. So the update ends once to take effect, and stays prepared: single entries are not stored,
 * and a node that dies leaves the rest to the leases. When every node has read the epochs, it ends again: entries that were
 * computed since are dropped, and the clearing is removed.
 *
 * <p>It waits for all invalidations of the update, however long they are pending: readers may compute values from older ones
 * until then. Those that the store refuses are not waited for. The update ends once more when some of them are delivered.
 *
 * <p>If more updates are held up by deliveries than can be kept, these updates wait no more. Then the prefixes of their pending
 * invalidations are raised, and after them those of all their keys.
 */
final class SecondEnd implements LateCommits.SecondTime {

    private final Map<CacheCluster, List<CacheKey<?>>> update;
    private final Ticker ticker;

    /** The end before did not reach these keys. This one waits until some of them are delivered. */
    private final Set<CacheKey<?>> missed;

    private Set<CacheKey<?>> refused;
    private boolean pending;
    private boolean leftToEpochs;
    private long due;

    /** @param update its keys by cluster; their first end was just sent */
    SecondEnd(Map<CacheCluster, List<CacheKey<?>>> update, Ticker ticker) {
        this(update, Set.of(), ticker);
    }

    private SecondEnd(Map<CacheCluster, List<CacheKey<?>>> update, Set<CacheKey<?>> missed, Ticker ticker) {
        this.update = update;
        this.missed = missed;
        this.ticker = ticker;
        this.refused = refused();
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
        // Refused keys are read first. So a key that is delivered between the two reads counts as refused, and gets
        // a further end.
        refused = refused();
        pending = isPending();
        if (before || pending) {
            due = EpochUpkeep.seenEverywhere(ticker.nanoTime());
        }
        return !leftToEpochs && due - ticker.nanoTime() > 0;
    }

    /**
     * To be called after the end.
     *
     * @return a further end, after keys that this one did not reach; null if there are none
     */
    synchronized @Nullable SecondEnd next() {
        if (leftToEpochs) {
            return null;
        }
        Set<CacheKey<?>> unreached = new HashSet<>(refused);
        unreached.addAll(refused());
        return unreached.isEmpty() && !isPending() ? null : new SecondEnd(update, unreached, ticker);
    }

    @Override
    public boolean isHeldUp() {
        return isPending();
    }

    @Override
    public synchronized void leaveToEpochs() {
        update.forEach((cluster, keys) -> {
            for (CacheKey<?> key : keys) {
                leftToEpochs |= cluster.pending().leaveToPrefix(key, raisedAfter(cluster, key));
            }
        });
    }

    private boolean isPending() {
        return keys((cluster, key) -> cluster.clearing().isPending(key))
                        .findAny()
                        .isPresent()
                || (!missed.isEmpty() && refused().containsAll(missed));
    }

    private Set<CacheKey<?>> refused() {
        return keys((cluster, key) -> cluster.pending().isRefused(key)).collect(Collectors.toSet());
    }

    private Stream<CacheKey<?>> keys(BiPredicate<CacheCluster, CacheKey<?>> which) {
        return update.entrySet().stream()
                .flatMap(group -> group.getValue().stream().filter(key -> which.test(group.getKey(), key)));
    }

    /** The prefixes of the update, except for those that are raised in one step with that of a key. */
    private Set<CacheSpec<?>> raisedAfter(CacheCluster cluster, CacheKey<?> key) {
        Set<CacheSpec<?>> others = new LinkedHashSet<>();
        update.forEach((place, keys) -> {
            boolean oneStep = place == cluster && cluster.clearing().isOneStep();
            for (CacheKey<?> other : keys) {
                boolean together = oneStep
                        && ((key.isAll() && other.isAll())
                                || key.spec().prefix().equals(other.spec().prefix()));
                if (!together) {
                    others.add(other.spec());
                }
            }
        });
        return others;
    }
}
