package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.engine.MarkRenewals.Renewal;
import io.easykit.cache.engine.UpdatePreparation.Leases;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The phases of an update in all clusters that its keys lie in: prepare, and invalidate. {@link Updates} decides when. */
final class UpdatePhases {

    /**
     * Keys of an update that is named again as a whole in the outbox for each key that is added during its commit. Those of a
     * larger one have a message of their own: all together would be too many rows.
     */
    static final int MOST_TOGETHER = 100;

    private final CacheClusters clusters;
    private final Ticker ticker;

    UpdatePhases(CacheClusters clusters, Ticker ticker) {
        this.clusters = clusters;
        this.ticker = ticker;
    }

    /**
     * Prepares an update before its commit.
     *
     * @param beforeCommit whether the transaction of this thread is about to commit. Elsewhere a message in the outbox must
     *     not depend on a transaction: its commit may be over, or the work be done outside it
     * @return whether Redis has acknowledged all
     */
    boolean prepare(
            Collection<? extends CacheKey<?>> keys, String token, @Nullable Duration atLeast, boolean beforeCommit) {
        return inEach(keys, atLeast, (cluster, group, leases) -> cluster.preparation()
                .prepare(group, group, token, leases, beforeCommit));
    }

    /**
     * Prepares further keys of an update that is prepared already. If Redis has not acknowledged all of the update, a message
     * in the outbox names all its keys: an entry that is prepared can be computed from an old value of the others again.
     *
     * @param more name single entries
     * @param update all keys, these included
     * @param othersAcknowledged whether Redis has acknowledged the keys that were prepared before
     * @return whether Redis has acknowledged these
     */
    boolean prepareMore(
            Collection<? extends CacheKey<?>> more,
            Collection<? extends CacheKey<?>> update,
            String token,
            @Nullable Duration atLeast,
            boolean othersAcknowledged) {
        Map<CacheCluster, List<CacheKey<?>>> all = update.size() <= MOST_TOGETHER ? byCluster(update) : Map.of();
        boolean acknowledged = true;
        for (Map.Entry<CacheCluster, List<CacheKey<?>>> one : byCluster(more).entrySet()) {
            List<CacheKey<?>> group = one.getValue();
            List<CacheKey<?>> together = all.getOrDefault(one.getKey(), group);
            Leases leases = leases(update, together, atLeast);
            UpdatePreparation preparation = one.getKey().preparation();
            boolean here = preparation.prepare(group, together, token, leases, false);
            if (here && !othersAcknowledged && together.size() > group.size()) {
                preparation.writeToOutbox(together, token, leases, false);
            }
            acknowledged &= here;
        }
        return acknowledged;
    }

    /**
     * Comes before {@link #prepare}, which may have prepared some keys when it refuses others.
     *
     * @throws CacheUnavailableException if a cluster is marked unavailable and its setting refuses such updates. Then nothing
     *     was sent, and an update whose action has not run needs no end
     */
    void refuseIfUnavailable(Collection<? extends CacheKey<?>> keys) {
        byCluster(keys).forEach((cluster, group) -> cluster.preparation().refuseIfUnavailable(group));
    }

    /** The first phase of an update in one cluster. */
    private interface Phase {

        /**
         * @return whether Redis has acknowledged it
         */
        boolean begin(CacheCluster cluster, Collection<? extends CacheKey<?>> keys, Leases leases);
    }

    /** All keys of one cluster together: their message in the outbox must name all of them. */
    private boolean inEach(Collection<? extends CacheKey<?>> keys, @Nullable Duration atLeast, Phase phase) {
        boolean acknowledged = true;
        for (Map.Entry<CacheCluster, List<CacheKey<?>>> one : byCluster(keys).entrySet()) {
            List<CacheKey<?>> group = one.getValue();
            acknowledged &= phase.begin(one.getKey(), group, leases(keys, group, atLeast));
        }
        return acknowledged;
    }

    private static Leases leases(
            Collection<? extends CacheKey<?>> update, List<CacheKey<?>> group, @Nullable Duration atLeast) {
        return PrefixClearing.isIn(update)
                ? Leases.ofClearing(lease(update, atLeast))
                : Leases.of(lease(group, atLeast));
    }

    /**
     * Between two invalidations of one update a reader could compute a value of the first key from the old value of the
     * second one, and store it. A second key that is prepared cannot be read. If one is not, all are invalidated twice:
     * values stored in between are dropped the second time. Keys that could not be invalidated stay pending, and their later
     * delivery invalidates the others again ({@link Redelivery}).
     *
     * @param acknowledged whether Redis has acknowledged the preparation of all keys
     */
    void end(Collection<? extends CacheKey<?>> keys, String token, boolean acknowledged) {
        end(keys, token, acknowledged, CacheCluster::invalidate);
    }

    /** The second phase of an update in one cluster. */
    private interface End {

        /** @return the keys that were delivered */
        List<CacheKey<?>> invalidate(CacheCluster cluster, Collection<? extends CacheKey<?>> keys, UpdateEnd end);
    }

    private void end(Collection<? extends CacheKey<?>> update, String token, boolean acknowledged, End end) {
        List<CacheKey<?>> keys = List.copyOf(update);
        Map<CacheCluster, List<CacheKey<?>>> groups = byCluster(keys);
        boolean twice = !token.isEmpty() && SecondEnd.isNeeded(groups);
        Map<CacheCluster, List<CacheKey<?>>> told = new LinkedHashMap<>();
        try {
            AllCalls.forEach(
                    groups,
                    (cluster, group) ->
                            told.put(cluster, end.invalidate(cluster, group, new UpdateEnd(token, keys, twice))));
        } finally {
            if (twice) {
                endAfter(new SecondEnd(groups, ticker), groups, keys, token);
            } else if (!acknowledged && keys.size() > 1 && !PrefixClearing.isIn(keys)) {
                AllCalls.forEach(told, CacheCluster::invalidateAgain);
            }
        }
    }

    /** Ends an update again, and once more after keys that this does not reach. */
    private void endAfter(
            SecondEnd second, Map<CacheCluster, List<CacheKey<?>>> groups, List<CacheKey<?>> keys, String token) {
        whenClosed(groups, second, () -> {
            try {
                endLate(keys, token);
            } finally {
                SecondEnd next = second.next();
                if (next != null) {
                    endAfter(next, groups, keys, token);
                }
            }
        });
    }

    /** Invalidates after a rollback before the commit. */
    void invalidateRolledBack(Collection<? extends CacheKey<?>> keys) {
        AllCalls.forEach(byCluster(keys), CacheCluster::invalidateRolledBack);
    }

    /** In the order of the keys. */
    private Map<CacheCluster, List<CacheKey<?>>> byCluster(Collection<? extends CacheKey<?>> keys) {
        return keys.stream()
                .collect(Collectors.groupingBy(clusters::of, LinkedHashMap::new, Collectors.toUnmodifiableList()));
    }

    private static Duration lease(Collection<? extends CacheKey<?>> keys, @Nullable Duration atLeast) {
        Duration lease = atLeast == null ? Duration.ZERO : atLeast;
        for (CacheKey<?> key : keys) {
            Duration own = key.spec().options().updateLease();
            lease = own.compareTo(lease) > 0 ? own : lease;
        }
        return lease;
    }

    static String newToken() {
        return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    /**
     * Prepares updates whose work may be done already. Refuses none, and a cluster that fails keeps no others back. Returns whether
     * Redis has acknowledged all.
     */
    boolean prepareEnded(Collection<? extends CacheKey<?>> keys, String token) {
        AtomicBoolean acknowledged = new AtomicBoolean(true);
        AllCalls.forEach(byCluster(keys), (cluster, group) -> {
            if (!cluster.preparation().prepareEnded(group, token, leases(keys, group, null))) {
                acknowledged.set(false);
            }
        });
        return acknowledged.get();
    }

    /**
     * Prepares an update again and again, until the renewals are stopped. To be called before {@link #prepare}, with the same
     * values.
     */
    List<Renewal> renew(Collection<? extends CacheKey<?>> keys, String token, @Nullable Duration atLeast) {
        List<Renewal> renewals = new ArrayList<>();
        inEach(
                keys,
                atLeast,
                (cluster, group, leases) -> renewals.add(cluster.preparation().renew(group, token, leases)));
        return renewals;
    }

    /**
     * Ends an update a second time, when no command from before its end can arrive any more. Its values are new ones since the
     * first time, so their order does not matter.
     */
    void endAgain(Collection<? extends CacheKey<?>> keys, String token) {
        long since = ticker.nanoTime();
        LateCommits.SecondTime open = () -> ticker.nanoTime() - since < MarkRenewals.LATE.toNanos();
        Map<CacheCluster, List<CacheKey<?>>> groups = byCluster(keys);
        if (SecondEnd.isNeeded(groups)) {
            endWhenClosed(keys, token, open);
        } else {
            UpdateEnd end = UpdateEnd.last(token, List.copyOf(keys));
            groups.forEach((cluster, group) -> cluster.whenClosed(open, () -> cluster.invalidateLate(group, end)));
        }
    }

    /** Ends an update again when its lease is over. Until then it stays prepared. */
    void endAfterLease(Collection<? extends CacheKey<?>> keys, String token, @Nullable Duration atLeast) {
        long since = ticker.nanoTime();
        long lease = lease(keys, atLeast).toNanos();
        endWhenClosed(keys, token, () -> ticker.nanoTime() - since < lease);
    }

    /** Ends updates a second time, when their work can no longer be committed. Clearings end as in {@link #end}. */
    void endWhenClosed(Collection<? extends CacheKey<?>> keys, String token, BooleanSupplier open) {
        List<CacheKey<?>> update = List.copyOf(keys);
        Map<CacheCluster, List<CacheKey<?>>> groups = byCluster(update);
        whenClosed(
                groups,
                open,
                SecondEnd.isNeeded(groups)
                        ? () -> end(update, token, true, CacheCluster::invalidateLate)
                        : () -> endLate(update, token));
    }

    /** One worker ends all of the update: the first that finds its work closed, so that no Redis waits for another one. */
    private static void whenClosed(Map<CacheCluster, List<CacheKey<?>>> groups, BooleanSupplier open, Runnable end) {
        AtomicBoolean ended = new AtomicBoolean();
        for (CacheCluster cluster : groups.keySet()) {
            cluster.whenClosed(open, () -> {
                if (ended.compareAndSet(false, true)) {
                    end.run();
                }
            });
        }
    }

    /** Prepares entries once more before the first is invalidated, see {@link #end}: the marks may be lost or over by now. */
    private void endLate(List<CacheKey<?>> update, String token) {
        boolean prepared = update.size() == 1;
        try {
            prepared = prepared || prepareLate(PrefixClearing.entriesOf(update), token);
        } finally {
            invalidateLate(update, token, prepared);
        }
    }

    private void invalidateLate(List<CacheKey<?>> update, String token, boolean prepared) {
        Map<CacheCluster, List<CacheKey<?>>> told = new LinkedHashMap<>();
        UpdateEnd end = UpdateEnd.last(token, update);
        try {
            AllCalls.forEach(
                    byCluster(update), (cluster, group) -> told.put(cluster, cluster.invalidateLate(group, end)));
        } finally {
            if (!prepared) {
                AllCalls.forEach(
                        told,
                        (cluster, group) -> cluster.invalidateAgain(List.copyOf(PrefixClearing.entriesOf(group))));
            }
        }
    }

    private boolean prepareLate(Collection<? extends CacheKey<?>> entries, String token) {
        boolean prepared = true;
        for (Map.Entry<CacheCluster, List<CacheKey<?>>> one : byCluster(entries).entrySet()) {
            List<CacheKey<?>> group = one.getValue();
            prepared &= one.getKey().preparation().prepareLate(group, token, Leases.of(lease(group, null)));
        }
        return prepared;
    }

    /** See {@link PrefixClearing#awaitSeen}. */
    void awaitSeen(Collection<? extends CacheKey<?>> keys) {
        PrefixClearing.awaitSeen(keys, ticker);
    }

    /** Prepares several keys before the first of them is invalidated, see {@link #end}. */
    void invalidateTogether(Collection<? extends CacheKey<?>> keys) {
        Map<CacheCluster, List<CacheKey<?>>> groups = byCluster(keys);
        String token = newToken();
        Set<CacheCluster> acknowledged = new HashSet<>();
        Map<CacheCluster, List<CacheKey<?>>> told = new LinkedHashMap<>();
        Runnable prepare = () -> AllCalls.forEach(groups, (cluster, group) -> {
            if (keys.size() > 1 && cluster.preparation().prepareLate(group, token, Leases.of(lease(group, null)))) {
                acknowledged.add(cluster);
            }
        });
        Runnable invalidate = () -> AllCalls.forEach(
                groups,
                (cluster, group) -> told.put(
                        cluster,
                        cluster.invalidate(
                                group,
                                acknowledged.contains(cluster)
                                        ? UpdateEnd.last(token, keys)
                                        : UpdateEnd.unprepared(keys))));
        Runnable again = () -> {
            if (keys.size() > 1 && acknowledged.size() < groups.size()) {
                AllCalls.forEach(told, CacheCluster::invalidateAgain);
            }
        };
        AllCalls.forEach(List.of(prepare, invalidate, again), Runnable::run);
    }
}
