package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.State;
import io.easykit.cache.store.OutboxException;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the messages of the outbox to one Redis, on one thread of its own.
 *
 * <h2>The reader of the outbox</h2>
 *
 * One node of all reads it: the holder of a lease in the very Redis to which the messages go, since only a node that reaches
 * it can deliver. The others try to get the lease in Redis and leave the database alone, so that an idle fleet costs one
 * query a second, for any number of nodes. If the holder dies or is cut off, another node takes over when the lease has
 * expired. Two holders at a time, for instance after a fail-over, deliver twice, which is harmless.
 *
 * <h2>The delivery of a message</h2>
 *
 * <ul>
 *   <li>A message that was part of a transaction is visible after its commit only. So its data have changed, and
 *       a value that is loaded after the delivery is new. A value that was loaded before cannot be stored after it, since an
 *       invalidation removes fencing tokens.
 *   <li>A message that was committed before its update is open while the update may still be running: a reader could load the
 *       old value after a delivery and store it. It is delivered in each round, until it is closed or its lease is over,
 *       and then once more.
 *   <li>The old value is dropped at once: its stale window began with the update, and is over by now.
 *   <li>All due keys are prepared before the first is invalidated. Otherwise a value that is computed from
 *       another one could be built from that one's old value in between.
 * </ul>
 *
 * <h2>Fail-over</h2>
 *
 * A master can lose acknowledged writes. Messages are therefore kept for {@link #RETENTION} after their delivery, and
 * delivered again by a node that takes the lease or whose connection was lost. They do not age while Redis is away: only the
 * holder of the lease deletes.
 */
final class OutboxRelay {

    static final Duration INTERVAL = Duration.ofSeconds(1);

    /** Survives one late renewal. */
    static final Duration LEASE = Outbox.MAX_DELAY.minus(INTERVAL);

    static final Duration RETENTION = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);
    private static final int MESSAGES = 200;
    private static final int KEYS = 100;

    /**
     * After this time the former holder has certainly marked its deliveries to a master that is gone. Such marks are removed
     * once more then.
     */
    private static final Duration LATE_HOLDER = Duration.ofSeconds(6);

    private static final Duration COUNT_EVERY = Duration.ofSeconds(10);

    private static final Duration GRACE = Duration.ofSeconds(2);

    /** For the time between preparing and invalidating in one delivery. */
    private static final Duration PREPARED = Duration.ofSeconds(10);

    private final InvalidationDelivery delivery;
    private final GuardedStore store;
    private final Outbox outbox;
    private final Ticker ticker;
    private final String owner = UUID.randomUUID().toString();

    private volatile @Nullable ScheduledExecutorService thread;
    private volatile boolean holdsLease;
    private volatile @Nullable OutboxBacklog backlog;
    private @Nullable Long countedAt;
    private @Nullable Long againAt;
    private boolean databaseFails;
    private boolean faulty;
    private boolean warnedOfUnreadable;

    OutboxRelay(InvalidationDelivery delivery, Outbox outbox, Ticker ticker) {
        this.delivery = delivery;
        this.ticker = ticker;
        this.store = delivery.store();
        this.outbox = outbox;
        store.onReconnect(server -> holdsLease = false);
    }

    synchronized void start() {
        if (thread == null) {
            ScheduledThreadPoolExecutor started = new ScheduledThreadPoolExecutor(1, task -> {
                Thread relay = new Thread(task, "easy-cache-outbox-" + delivery.clusterId());
                relay.setDaemon(true);
                return relay;
            });
            started.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            thread = started;
            schedule(started, Duration.ZERO);
        }
    }

    /** Lets a round end that is at work: to interrupt it inside an embedded database can close that. */
    synchronized void stop() {
        ScheduledExecutorService running = thread;
        thread = null;
        holdsLease = false;
        if (running == null) {
            return;
        }
        running.shutdown();
        try {
            if (!running.awaitTermination(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
                running.shutdownNow();
            }
        } catch (InterruptedException stop) {
            running.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private void schedule(ScheduledExecutorService executor, Duration delay) {
        try {
            var unused = executor.schedule(() -> schedule(executor, round()), delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException stopped) {
            log.debug("The outbox relay of Redis cluster '{}' was stopped", delivery.clusterId());
        }
    }

    /**
     * Returns the backlog of the outbox, if this node counts it: it delivers, or it does not reach Redis, so that it may have
     * written messages. Null if it does not count, or if the database does not answer.
     */
    @Nullable OutboxBacklog backlog() {
        return backlog;
    }

    /**
     * One round. Never throws, or the next one would not come.
     *
     * @return delay until the next one
     */
    Duration round() {
        Duration next = work();
        count();
        return next;
    }

    private void count() {
        if (!holdsLease && store.availability().state() == Availability.State.AVAILABLE) {
            backlog = null;
            countedAt = null;
            return;
        }
        if (countedAt != null && ticker.nanoTime() - countedAt < COUNT_EVERY.toNanos()) {
            return;
        }
        countedAt = ticker.nanoTime();
        try {
            backlog = outbox.backlog(delivery.clusterId());
        } catch (Throwable failed) {
            backlog = null;
            log.debug("The messages in the outbox could not be counted", failed);
        }
    }

    private Duration work() {
        try {
            Duration left = deliverIfHolder();
            databaseFails = false;
            faulty = false;
            return left.isZero() || left.compareTo(INTERVAL) > 0 ? INTERVAL : left;
        } catch (StoreUnavailableException away) {
            holdsLease = false;
            log.debug("Redis cluster '{}' did not answer the outbox relay", delivery.clusterId(), away);
        } catch (OutboxException failed) {
            if (!databaseFails) {
                databaseFails = true;
                log.warn(
                        "The outbox cannot be read: {}. Invalidations of nodes that are cut off from Redis cluster '{}' are"
                                + " late until it can. Check the database and the table.",
                        failed.getMessage(),
                        delivery.clusterId());
            }
        } catch (Throwable fault) {
            if (!faulty) {
                faulty = true;
                log.error(
                        "The outbox relay of Redis cluster '{}' failed and goes on. Until it succeeds invalidations of nodes"
                                + " that are cut off are late.",
                        delivery.clusterId(),
                        fault);
            }
        }
        return INTERVAL;
    }

    /**
     * @return zero if this node holds the lease, else how long another node has it
     */
    private Duration deliverIfHolder() {
        Duration left = lease();
        if (!left.isZero()) {
            holdsLease = false;
            return left;
        }
        if (!holdsLease) {
            // Set before, so that a connection that is lost meanwhile is not forgotten.
            holdsLease = true;
            againAt = ticker.nanoTime() + LATE_HOLDER.toNanos();
            redeliver();
        } else if (againAt != null && ticker.nanoTime() - againAt >= 0) {
            againAt = null;
            redeliver();
        }
        while (deliverSome() && lease().isZero()) {
            log.debug("There may be more messages in the outbox");
        }
        return Duration.ZERO;
    }

    private Duration lease() {
        return store.lease("outbox:" + outbox.id(), owner, LEASE);
    }

    /** A fail-over may have lost deliveries of the former holder, or of this node before it lost its connection. */
    private void redeliver() {
        try {
            outbox.redeliver(delivery.clusterId());
        } catch (OutboxException failed) {
            holdsLease = false;
            throw failed;
        }
    }

    /** Whether there was something. */
    private boolean deliverSome() {
        List<Due> due = outbox.due(delivery.clusterId(), MESSAGES);
        if (due.isEmpty()) {
            return false;
        }
        List<CacheKey<?>> keys = keys(due);
        Set<CacheKey<?>> failed = keys.isEmpty() ? Set.of() : deliver(keys);
        List<Due> done = new ArrayList<>(due);
        List<Due> stuck = due.stream().filter(one -> has(one, failed)).toList();
        done.removeAll(stuck);
        ids(done, State.WAITING, ids -> outbox.delivered(ids, RETENTION));
        ids(done, State.OPEN, ids -> outbox.postpone(ids, INTERVAL));
        ids(done, State.EXPIRED, outbox::delete);
        // One partition that is away must not hold up the messages for the others.
        ids(stuck, State.WAITING, ids -> outbox.postpone(ids, INTERVAL));
        ids(stuck, State.OPEN, ids -> outbox.postpone(ids, INTERVAL));
        return true;
    }

    private static boolean has(Due due, Set<CacheKey<?>> failed) {
        return due.state() != State.EXPIRED
                && failed.stream().anyMatch(key -> due.message().keys().contains(key.name()));
    }

    /**
     * @return keys of partitions that do not answer
     * @throws StoreUnavailableException if none answers
     */
    private Set<CacheKey<?>> deliver(List<CacheKey<?>> keys) {
        String token = UUID.randomUUID().toString();
        try {
            inParts(keys, part -> store.prepare(part, token, PREPARED));
        } catch (StoreUnavailableException full) {
            // A Redis that is full prepares nothing but invalidates; one that is away does neither.
            log.debug("Redis cluster '{}' did not prepare", delivery.clusterId(), full);
        }
        Set<CacheKey<?>> failed = new HashSet<>();
        for (List<CacheKey<?>> partition : store.byPartition(keys).values()) {
            try {
                inParts(partition, part -> store.invalidateNow(part, token));
                partition.forEach(delivery.local()::invalidate);
                delivery.recent().add(partition);
            } catch (StoreUnavailableException away) {
                failed.addAll(partition);
                if (failed.size() == keys.size()) {
                    throw away;
                }
            }
        }
        log.debug(
                "Delivered {} invalidations from the outbox to Redis cluster '{}'",
                keys.size() - failed.size(),
                delivery.clusterId());
        return failed;
    }

    private List<CacheKey<?>> keys(List<Due> due) {
        Set<CacheKey<?>> keys = new LinkedHashSet<>();
        for (Due one : due) {
            if (one.state() != State.EXPIRED) {
                one.message().keys().forEach(name -> addKey(keys, name, one.message()));
            }
        }
        return List.copyOf(keys);
    }

    private void addKey(Set<CacheKey<?>> keys, String name, Outbox.Message message) {
        try {
            keys.add(CacheKey.named(delivery.clusterId(), name));
        } catch (InvalidCacheKeyException unreadable) {
            if (!warnedOfUnreadable) {
                warnedOfUnreadable = true;
                log.warn(
                        "Message {} in the outbox names no entry: '{}'. It is skipped, and so are further ones without a"
                                + " word. Check who else writes to that table.",
                        message.id(),
                        name);
            }
        }
    }

    private static void inParts(List<CacheKey<?>> keys, Consumer<List<CacheKey<?>>> action) {
        for (int from = 0; from < keys.size(); from += KEYS) {
            action.accept(keys.subList(from, Math.min(from + KEYS, keys.size())));
        }
    }

    private static void ids(List<Due> due, State state, Consumer<Collection<String>> action) {
        List<String> ids = due.stream()
                .filter(one -> one.state() == state)
                .map(one -> one.message().id())
                .toList();
        if (!ids.isEmpty()) {
            action.accept(ids);
        }
    }
}
