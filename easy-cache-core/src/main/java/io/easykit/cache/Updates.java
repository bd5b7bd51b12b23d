package io.easykit.cache;

import java.time.Duration;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Invalidates in two phases around a change of the data: <em>prepare</em> before its commit, <em>invalidate</em> after
 * its end, whatever that was.
 *
 * <p>With a transaction the phases belong to it: {@code beforeCommit} and {@code afterCompletion}. ({@code afterCommit}
 * is not the place: it is not called when the commit throws, and then nobody knows whether the data changed.) Without
 * one they stand around the action. A crash between the phases is repaired by the lease of the intent; a crash before
 * the first one, or a rollback, has changed nothing.
 */
final class Updates {

    private static final String NO_TOKEN = "";

    private final Clusters clusters;
    private final Transactions transactions;

    Updates(Clusters clusters, Engine engine) {
        this.clusters = clusters;
        this.transactions = engine.transactions();
    }

    <T, X extends Throwable> @Nullable T around(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        if (transactions.isActive()) {
            enlist(keys);
            return action.run();
        }
        String token = newToken();
        try {
            prepare(keys, token, null);
            return action.run();
        } finally {
            invalidate(keys, token);
        }
    }

    void invalidate(Collection<? extends CacheKey<?>> keys) {
        if (transactions.isActive()) {
            enlist(keys);
        } else {
            invalidate(keys, NO_TOKEN);
        }
    }

    /** Whether the key was updated in this thread's present transaction: then no level knows what its reads may see. */
    boolean isUpdatedHere(CacheKey<?> key) {
        return transactions.current() instanceof TransactionalUpdate update && update.keys.contains(key);
    }

    private void enlist(Collection<? extends CacheKey<?>> keys) {
        if (transactions.current() instanceof TransactionalUpdate running) {
            running.add(keys);
        } else {
            TransactionalUpdate update = new TransactionalUpdate(transactions.timeout());
            transactions.enlist(update);
            update.add(keys);
        }
    }

    private void prepare(Collection<? extends CacheKey<?>> keys, String token, @Nullable Duration atLeast) {
        byCluster(keys).forEach((cluster, group) -> cluster.prepare(group, token, lease(group, atLeast)));
    }

    private void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        byCluster(keys).forEach((cluster, group) -> cluster.invalidate(group, token));
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

    /** All keys that one transaction updates. */
    private final class TransactionalUpdate implements Transactions.Participant {

        private final String token = newToken();
        private final Set<CacheKey<?>> keys = new LinkedHashSet<>();
        private final @Nullable Duration timeout;
        private boolean prepared;

        TransactionalUpdate(@Nullable Duration timeout) {
            this.timeout = timeout;
        }

        void add(Collection<? extends CacheKey<?>> more) {
            keys.addAll(more);
            if (prepared) {
                prepare(more, token, timeout);
            }
        }

        @Override
        public void beforeCommit() {
            prepared = true;
            prepare(keys, token, timeout);
        }

        @Override
        public void afterCompletion(boolean rolledBack) {
            if (prepared || !rolledBack) {
                invalidate(keys, token);
            }
        }
    }
}
