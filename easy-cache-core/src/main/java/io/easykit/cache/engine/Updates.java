package io.easykit.cache.engine;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.Transactions;
import io.easykit.cache.Transactions.Completion;
import io.easykit.cache.engine.MarkRenewals.Renewal;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Invalidates in two phases around a change of the data: <em>prepare</em> before its commit, <em>invalidate</em> after its
 * end, committed or not. A crash between the phases is repaired by the lease of the intent. A crash before the first phase
 * has changed nothing.
 *
 * <h2>Which commit</h2>
 *
 * An update belongs to the transaction in which its work is done. That is not always the current one: the action may open a
 * new transaction, suspend the current one, or write to a store without transactions. Its data are then visible before the
 * current transaction ends, and stay changed if that is rolled back. The cache cannot see which it is, so:
 *
 * <ul>
 *   <li>{@link #around} is for any action. It prepares and invalidates around the action
 *       and, inside a transaction, around the end of that transaction as well. The action may last longer than the lease of
 *       the intent, which is renewed meanwhile ({@link MarkRenewals}).
 *   <li>{@link #inTransaction} is for an action that does its work in the current transaction. The phases belong to
 *       the transaction alone: {@code beforeCommit} and {@code afterCompletion}. ({@code afterCommit} is not called when
 *       the commit throws, although the data may have changed.)
 *   <li>If the action of such an update commits another transaction after all, the phases stand around that commit too
 *       ({@link Transactions.Participant#beforeInnerCommit}).
 *   <li>In a transaction whose end cannot be observed, the intent is never removed, and ends by its lease.
 *   <li>After the end of a transaction, work on its connection is committed still later. Such an update stays prepared
 *       until the connection is given back ({@link LateCommits}). So does the update of a transaction that its manager
 *       has left open.
 *   <li>A commit that fails without an answer may be carried out later. How such an update ends is in {@link UpdateEnds}.
 * </ul>
 *
 * <p>A rollback is invalidated too, as a precaution ({@link RolledBackUpdates}).
 *
 * <p>An update that clears a cache may have to wait after its end ({@link PrefixClearing}). It does so once, however many commits
 * and updates of its keys it has inside: at the end of the outermost update or transaction.
 */
final class Updates {

    private static final String NO_TOKEN = "";

    private final UpdatePhases phases;
    private final Transactions transactions;
    private final UpdateEnds ends;
    private final RunningUpdates running = new RunningUpdates();

    Updates(CacheClusters clusters, EngineContext engine) {
        this.phases = new UpdatePhases(clusters, engine.ticker());
        this.transactions = engine.transactions();
        this.ends = new UpdateEnds(phases, transactions);
    }

    <T, X extends Throwable> @Nullable T around(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        phases.refuseIfUnavailable(keys);
        String token = UpdatePhases.newToken();
        Duration timeout = transactions.timeout();
        List<Renewal> renewals = phases.renew(keys, token, timeout);
        boolean acknowledged = false;
        boolean begun = false;
        boolean done = false;
        try {
            acknowledged = phases.prepare(keys, token, timeout, false);
            // Not earlier: if this update is refused, its transaction may go on, and be committed.
            if (isPresent()) {
                enlist(keys);
            }
            begun = true;
            T result = running.run(keys, action);
            done = true;
            return result;
        } finally {
            // A statement that got no answer may still be carried out.
            boolean certain = MarkRenewals.stop(renewals) && (done || !begun);
            if (transactions.isEndHidden()) {
                phases.end(keys, NO_TOKEN, acknowledged);
            } else {
                try {
                    ends.endPrepared(keys, token, acknowledged);
                } finally {
                    if (!certain && transactions.lateCommit() == null) {
                        phases.endAgain(keys, token);
                    }
                }
            }
            if (begun) {
                awaitSeen(keys);
            }
        }
    }

    /** Whether there is a transaction whose end is still to come. */
    private boolean isPresent() {
        return transactions.isActive() && transactions.lateCommit() == null;
    }

    /** Waits for other nodes, or leaves that to the update or transaction around this one. */
    private void awaitSeen(Collection<? extends CacheKey<?>> keys) {
        if (isPresent() && transactions.current() instanceof TransactionalUpdate outer) {
            outer.unseen.addAll(keys);
        } else {
            awaitSeenUnlessInside(keys);
        }
    }

    private void awaitSeenUnlessInside(Collection<? extends CacheKey<?>> keys) {
        if (PrefixClearing.isIn(keys) && !keys.stream().allMatch(running::include)) {
            phases.awaitSeen(keys);
        }
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
            phases.refuseIfUnavailable(keys);
            boolean acknowledged = false;
            try {
                acknowledged = phases.prepare(keys, UpdatePhases.newToken(), null, false);
            } finally {
                phases.end(keys, NO_TOKEN, acknowledged);
            }
        } else if (transactions.lateCommit() != null || PrefixClearing.isIn(keys)) {
            ends.endUnprepared(keys);
        } else {
            phases.invalidateTogether(keys);
        }
        awaitSeen(keys);
    }

    /**
     * Whether this thread is updating the key, in an action or in a transaction: then its reads may see uncommitted data, and no
     * level may be used.
     */
    boolean isUpdatedHere(CacheKey<?> key) {
        if (running.include(key) || isUpdatedBy(transactions.current(), key)) {
            return true;
        }
        for (Transactions.Participant outer : transactions.around()) {
            if (isUpdatedBy(outer, key)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isUpdatedBy(Transactions.@Nullable Participant participant, CacheKey<?> key) {
        return participant instanceof TransactionalUpdate update
                && (update.keys.contains(key) || update.keys.contains(key.spec().all()));
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

    /** Keys that are prepared around the commit of one inner transaction. */
    private static final class InnerCommit {

        private final List<CacheKey<?>> keys;
        private final String token;
        private boolean acknowledged;

        InnerCommit(List<CacheKey<?>> keys, String token) {
            this.keys = keys;
            this.token = token;
        }
    }

    /** All keys that one transaction updates. Used by the thread of the transaction. */
    private final class TransactionalUpdate implements Transactions.Participant {

        private final String token = UpdatePhases.newToken();
        private final Set<CacheKey<?>> keys = new LinkedHashSet<>();
        private final Set<CacheKey<?>> unsettled = new LinkedHashSet<>();

        /** Keys of updates that have ended inside the transaction, and that other nodes may not have seen. */
        private final Set<CacheKey<?>> unseen = new LinkedHashSet<>();

        private final @Nullable Duration timeout;
        private int running;
        private boolean prepared;
        private boolean acknowledged;

        /** Keys that neither Redis nor the outbox has, because they were refused. The transaction may go on without them. */
        private final Set<CacheKey<?>> refused = new HashSet<>();

        /** Inner transactions that commit, or whose callbacks run, by their identity. */
        private final IdentityHashMap<Object, InnerCommit> innerCommits = new IdentityHashMap<>();

        TransactionalUpdate(@Nullable Duration timeout) {
            this.timeout = timeout;
        }

        void add(Collection<? extends CacheKey<?>> more) {
            Set<CacheKey<?>> added = new LinkedHashSet<>(more);
            added.removeIf(key -> keys.contains(key) && !refused.contains(key));
            keys.addAll(more);
            if (transactions.hasInner()) {
                unsettled.addAll(more);
            }
            if (prepared && !added.isEmpty()) {
                refused.addAll(added);
                prepareMore(added);
                refused.removeAll(added);
            }
        }

        private void prepareMore(Set<CacheKey<?>> added) {
            boolean before = acknowledged;
            acknowledged = false;
            phases.refuseIfUnavailable(added);
            // A clearing makes the leases of all keys longer.
            boolean now = PrefixClearing.isIn(added)
                    ? phases.prepare(keys, token, timeout, false)
                    : phases.prepareMore(added, keys, token, timeout, before);
            acknowledged = now && before;
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
                // Not removeAll: of a set it searches the whole list for each element.
                done.forEach(unsettled::remove);
            }
        }

        @Override
        public void beforeCommit() {
            if (!prepared) {
                phases.refuseIfUnavailable(keys);
                prepared = true;
                acknowledged = phases.prepare(keys, token, timeout, true);
            }
        }

        @Override
        public void beforeInnerCommit(Object inner) {
            if (!unsettled.isEmpty()) {
                phases.refuseIfUnavailable(unsettled);
                InnerCommit commit = new InnerCommit(List.copyOf(unsettled), UpdatePhases.newToken());
                innerCommits.put(inner, commit);
                commit.acknowledged = phases.prepare(commit.keys, commit.token, timeout, true);
            }
        }

        @Override
        public void afterInnerCompletion(Object inner, boolean committed) {
            InnerCommit commit = innerCommits.remove(inner);
            if (commit != null) {
                ends.endInner(commit.keys, commit.token, commit.acknowledged, committed);
                unseen.addAll(commit.keys);
            }
            if (running == 0 && !transactions.hasInner()) {
                unsettled.clear();
            }
        }

        @Override
        public void afterCompletion(Completion completion) {
            if (completion == Completion.LEFT_OPEN) {
                endOpen();
            } else if (prepared) {
                ends.endCommit(keys, token, timeout, acknowledged, completion);
            } else if (completion == Completion.ROLLED_BACK) {
                phases.invalidateRolledBack(keys);
            } else {
                phases.end(keys, NO_TOKEN, acknowledged);
            }
            if (completion != Completion.ROLLED_BACK) {
                unseen.addAll(keys);
            }
            awaitSeenUnlessInside(unseen);
        }

        private void endOpen() {
            if (prepared) {
                ends.endPrepared(keys, token, acknowledged);
            } else {
                ends.endUnprepared(keys);
            }
        }
    }
}
