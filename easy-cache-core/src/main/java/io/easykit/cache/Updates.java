package io.easykit.cache;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Invalidates in two phases around a change of the data: <em>prepare</em> before its commit, <em>invalidate</em> after
 * its end, whatever that was. A crash between the phases is repaired by the lease of the intent. A crash before the first
 * phase has changed nothing.
 *
 * <h2>Which commit</h2>
 *
 * An update belongs to the transaction in which its work is done. That is not always the present one: the action may
 * open a new transaction, suspend the present one, or write to a store without transactions. Its data are then visible
 * before the present transaction ends, and stay changed if that is rolled back. The cache cannot see which it is, so:
 *
 * <ul>
 *   <li>{@link #around} stands for an action of which nothing is known. It prepares and invalidates around the action
 *       and, inside a transaction, around the end of that transaction as well.
 *   <li>{@link #inTransaction} stands for an action that does its work in the present transaction. The phases belong to
 *       the transaction alone: {@code beforeCommit} and {@code afterCompletion}. ({@code afterCommit} is not called when
 *       the commit throws, although the data may have changed.)
 *   <li>If the action of such an update commits another transaction after all, the phases stand around that commit too
 *       ({@link Transactions.Participant#beforeInnerCommit()}).
 *   <li>A transaction whose end cannot be observed is given the lease: its intent is never removed.
 *   <li>After the end of a transaction, work on its connection is committed still later. Such an update stays prepared
 *       until the connection is given back ({@link LateCommits}).
 * </ul>
 *
 * <p>A rollback is invalidated too, as a precaution ({@link RolledBackUpdates}).
 */
final class Updates {

    private static final String NO_TOKEN = "";

    private final Clusters clusters;
    private final Transactions transactions;
    private final RunningUpdates running = new RunningUpdates();

    Updates(Clusters clusters, Engine engine) {
        this.clusters = clusters;
        this.transactions = engine.transactions();
    }

    <T, X extends Throwable> @Nullable T around(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        if (isPresent()) {
            enlist(keys);
        }
        String token = newToken();
        try {
            prepare(keys, token, transactions.timeout(), false);
            return running.run(keys, action);
        } finally {
            if (transactions.isEndHidden()) {
                invalidate(keys, NO_TOKEN);
            } else {
                endPrepared(keys, token);
            }
        }
    }

    /** Whether there is a transaction whose end is still to come. */
    private boolean isPresent() {
        return transactions.isActive() && transactions.lateCommit() == null;
    }

    /** Ends updates that are prepared: now, or when their work is committed. */
    private void endPrepared(Collection<? extends CacheKey<?>> keys, String token) {
        BooleanSupplier open = transactions.lateCommit();
        invalidate(keys, open == null ? token : NO_TOKEN);
        if (open != null) {
            byCluster(keys).forEach((cluster, group) -> cluster.invalidateWhenClosed(group, token, open));
        }
    }

    /** Ends updates that are not prepared, and whose work may still be committed. */
    private void endUnprepared(Collection<? extends CacheKey<?>> keys) {
        String token = newToken();
        byCluster(keys).forEach((cluster, group) -> cluster.announce(group, token, lease(group, null)));
        endPrepared(keys, token);
    }

    <T, X extends Throwable> @Nullable T inTransaction(Collection<? extends CacheKey<?>> keys, Action<T, X> action)
            throws X {
        if (!isPresent()) {
            return around(keys, action);
        }
        TransactionalUpdate update = enlist(keys);
        update.begin(keys);
        try {
            return action.run();
        } finally {
            update.end(keys);
        }
    }

    void invalidateInTransaction(Collection<? extends CacheKey<?>> keys) {
        if (isPresent()) {
            enlist(keys);
        } else {
            invalidate(keys);
        }
    }

    void invalidate(Collection<? extends CacheKey<?>> keys) {
        if (isPresent()) {
            enlist(keys);
        }
        if (transactions.isEndHidden()) {
            prepare(keys, newToken(), null, false);
            invalidate(keys, NO_TOKEN);
        } else if (transactions.lateCommit() != null) {
            endUnprepared(keys);
        } else {
            invalidateTogether(byCluster(keys), keys.size());
        }
    }

    /**
     * Announces several keys before the first of them is invalidated. Otherwise a reader could load a value of one key, and
     * store it, from the old value of another key that is still to be invalidated. Where that fails, all are invalidated
     * twice: what was stored in between goes with the second time.
     */
    private static void invalidateTogether(Map<Cluster, List<CacheKey<?>>> groups, int keys) {
        String token = newToken();
        Set<Cluster> announced = new HashSet<>();
        groups.forEach((cluster, group) -> {
            if (keys > 1 && cluster.announce(group, token, lease(group, null))) {
                announced.add(cluster);
            }
        });
        groups.forEach((cluster, group) -> cluster.invalidate(group, announced.contains(cluster) ? token : NO_TOKEN));
        if (keys > 1 && announced.size() < groups.size()) {
            groups.forEach((cluster, group) -> cluster.invalidate(group, NO_TOKEN));
        }
    }

    /**
     * Whether this thread is updating the key, in an action or in its present transaction: then no level knows what its reads
     * may see.
     */
    boolean isUpdatedHere(CacheKey<?> key) {
        if (running.include(key)) {
            return true;
        }
        return transactions.current() instanceof TransactionalUpdate update && update.keys.contains(key);
    }

    private TransactionalUpdate enlist(Collection<? extends CacheKey<?>> keys) {
        if (transactions.current() instanceof TransactionalUpdate running) {
            running.add(keys);
            return running;
        }
        TransactionalUpdate update = new TransactionalUpdate(transactions.timeout());
        transactions.enlist(update);
        update.add(keys);
        return update;
    }

    /**
     * @param beforeCommit whether the transaction of this thread is about to commit. Elsewhere a message in the outbox must
     *     not depend on a transaction: its commit may be over, or the work be done outside it
     */
    private void prepare(
            Collection<? extends CacheKey<?>> keys, String token, @Nullable Duration atLeast, boolean beforeCommit) {
        byCluster(keys).forEach((cluster, group) -> cluster.prepare(group, token, lease(group, atLeast), beforeCommit));
    }

    private void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        byCluster(keys).forEach((cluster, group) -> cluster.invalidate(group, token));
    }

    private void invalidateRolledBack(Collection<? extends CacheKey<?>> keys) {
        byCluster(keys).forEach(Cluster::invalidateRolledBack);
    }

    private Map<Cluster, List<CacheKey<?>>> byCluster(Collection<? extends CacheKey<?>> keys) {
        return keys.stream().collect(Collectors.groupingBy(clusters::of, Collectors.toUnmodifiableList()));
    }

    private static Duration lease(List<CacheKey<?>> keys, @Nullable Duration atLeast) {
        Duration lease = atLeast == null ? Duration.ZERO : atLeast;
        for (CacheKey<?> key : keys) {
            Duration own = key.spec().options().lease();
            lease = own.compareTo(lease) > 0 ? own : lease;
        }
        return lease;
    }

    private static String newToken() {
        return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    /** All keys that one transaction updates. Used by the thread of the transaction. */
    private final class TransactionalUpdate implements Transactions.Participant {

        private final String token = newToken();
        private final Set<CacheKey<?>> keys = new LinkedHashSet<>();
        private final Set<CacheKey<?>> unsettled = new LinkedHashSet<>();
        private final @Nullable Duration timeout;
        private int running;
        private boolean prepared;
        private @Nullable String innerToken;

        TransactionalUpdate(@Nullable Duration timeout) {
            this.timeout = timeout;
        }

        void add(Collection<? extends CacheKey<?>> more) {
            keys.addAll(more);
            if (transactions.hasInner()) {
                unsettled.addAll(more);
            }
            if (prepared) {
                prepare(more, token, timeout, false);
            }
        }

        /** An action starts. If it commits another transaction, these keys belong to that one as well. */
        void begin(Collection<? extends CacheKey<?>> more) {
            running++;
            unsettled.addAll(more);
        }

        /** An action has ended. An inner transaction that is still open may hold its work. */
        void end(Collection<? extends CacheKey<?>> done) {
            running--;
            if (!transactions.hasInner()) {
                unsettled.removeAll(done);
            }
        }

        @Override
        public void beforeCommit() {
            if (!prepared) {
                prepared = true;
                prepare(keys, token, timeout, true);
            }
        }

        @Override
        public void beforeInnerCommit() {
            if (!unsettled.isEmpty()) {
                innerToken = newToken();
                prepare(unsettled, innerToken, timeout, true);
            }
        }

        @Override
        public void afterInnerCompletion() {
            if (innerToken != null) {
                invalidate(unsettled, innerToken);
                innerToken = null;
            }
            if (running == 0 && !transactions.hasInner()) {
                unsettled.clear();
            }
        }

        @Override
        public void afterCompletion(boolean rolledBack) {
            if (prepared || !rolledBack) {
                invalidate(keys, prepared ? token : NO_TOKEN);
            } else {
                invalidateRolledBack(keys);
            }
        }
    }
}
