package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.OutboxException;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.time.EngineTime.Scheduler;
import io.easykit.cache.type.VisibleText;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the outbox for one Redis, on one thread of its own, and has its messages delivered ({@link OutboxDelivery}).
 *
 * <h2>The reader of the outbox</h2>
 *
 * One node of all reads it: the holder of a lease in the very Redis to which the messages go, since only a node that reaches
 * it can deliver. The others try to get the lease in Redis and leave the database alone, so that an idle fleet costs one
 * query a second, for any number of nodes. If the holder dies or is cut off, another node takes over when the lease has
 * expired. A holder that loses the database leaves its lease to expire. Two holders at a time, for instance after a fail-over,
 * deliver twice, which is harmless.
 *
 * <p>In a cluster the lease is on one master. A holder that reaches this one but lacks another keeps its lease only while no
 * node takes it that reaches all of them. So nodes that lack a master do not take it from one another: each takeover delivers
 * again what was delivered before, and drops what was loaded since.
 *
 * <h2>Fail-over</h2>
 *
 * A master can lose acknowledged writes. Messages are therefore kept for {@link OutboxDelivery#RETENTION} after their
 * delivery, and delivered again by a node that takes the lease or whose connection was lost. They do not age while Redis is
 * away: only the holder of the lease deletes.
 *
 * <h2>Recovery</h2>
 *
 * After an outage of all nodes Redis may return with entries from before it. The node that made an update and the holder of
 * the lease would remove them, but another node may recover first. So each node itself delivers the entries of all messages to a
 * partition before its readers use it ({@link OutboxRecovery}). Keys that clear a cache are left to the holder of the lease.
 */
final class OutboxRelay {

    static final Duration INTERVAL = Duration.ofSeconds(1);

    /** Survives one late renewal. */
    static final Duration LEASE = Outbox.MAX_DELAY.minus(INTERVAL);

    private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

    /**
     * After this time the former holder has certainly marked its deliveries to a master that is gone. Then such marks are
     * removed again.
     */
    private static final Duration LATE_HOLDER = Duration.ofSeconds(6);

    private static final Duration COUNT_EVERY = Duration.ofSeconds(10);

    private static final Duration GRACE = Duration.ofSeconds(2);

    /** Time after which a node that reaches all masters again is taken for one that does. */
    private static final Duration SETTLED = Duration.ofSeconds(10);

    private final InvalidationDelivery delivery;
    private final GuardedStore store;
    private final Outbox outbox;
    private final OutboxDelivery messages;
    private final OutboxRecovery recovery;
    private final Ticker ticker;
    private final String owner = UUID.randomUUID().toString();

    /** A round of a relay that was stopped may still run when the next one starts. */
    private final Lock roundLock = new ReentrantLock();

    private volatile @Nullable Scheduler thread;
    private volatile boolean wasStarted;
    private volatile boolean holdsLease;
    private volatile @Nullable OutboxBacklog backlog;
    private @Nullable Long countedAt;
    private @Nullable Long againAt;
    private @Nullable Long lackedAt;
    private boolean offered;
    private long leasedAt;
    private boolean databaseFails;
    private boolean faulty;

    OutboxRelay(InvalidationDelivery delivery, PrefixClearing clearing, Outbox outbox, Ticker ticker) {
        this.delivery = delivery;
        this.ticker = ticker;
        this.store = delivery.store();
        this.outbox = outbox;
        OutboxKeys names = new OutboxKeys(delivery.clusterId());
        this.messages = new OutboxDelivery(delivery, clearing, outbox, names, ticker, this::keepLease);
        this.recovery = new OutboxRecovery(delivery, outbox, names, ticker);
        store.onReconnect(server -> holdsLease = false);
    }

    synchronized void start() {
        if (thread == null) {
            Scheduler started = ticker.newScheduler("easy-cache-outbox-" + delivery.clusterId());
            thread = started;
            wasStarted = true;
            started.repeat(() -> regularRound(started), INTERVAL.toNanos());
        }
    }

    /** Lets a round end that is at work, see {@link Scheduler#stopWithin}. */
    synchronized void stop() {
        Scheduler running = thread;
        thread = null;
        holdsLease = false;
        if (running != null) {
            boolean unused = running.stopWithin(GRACE.toNanos());
        }
    }

    boolean isStopped() {
        return wasStarted && thread == null;
    }

    OutboxRecovery recovery() {
        return recovery;
    }

    /** Each second, which takes no memory, and when the lease of another node ends, if that is sooner. */
    private void regularRound(Scheduler executor) {
        Duration next = round();
        if (next.compareTo(INTERVAL) >= 0) {
            return;
        }
        try {
            executor.schedule(this::round, next.toNanos());
        } catch (RejectedExecutionException stopped) {
            log.debug("The outbox relay of Redis '{}' was stopped", delivery.clusterId());
        } catch (OutOfMemoryError late) {
            log.debug("The next round of the outbox relay of Redis '{}' is a regular one", delivery.clusterId(), late);
        }
    }

    /**
     * Delivers the updates that other nodes made while a partition was away, before its readers use it.
     *
     * @param here the keys of the partition
     * @throws StoreUnavailableException if the partition does not answer, or this relay is stopped
     */
    void deliverBeforeReaders(Predicate<CacheKey<?>> here) {
        Scheduler running = thread;
        if (running != null) {
            recovery.deliver(here, pass -> running.execute(() -> alone(pass)), () -> thread != running);
        } else if (wasStarted) {
            throw StoreUnavailableException.notCalled("The outbox relay was stopped");
        } else {
            recovery.deliver(here, Runnable::run, () -> false);
        }
    }

    /**
     * Returns the backlog of the outbox, if this node counts it: it delivers, or it does not reach Redis, so that it may have
     * written messages. Null if it does not count, or if the database does not answer.
     */
    @Nullable OutboxBacklog backlog() {
        return backlog;
    }

    /** Returns the delay until the next round. */
    Duration round() {
        roundLock.lock();
        try {
            Duration next = work();
            count();
            return next;
        } finally {
            roundLock.unlock();
        }
    }

    private void alone(Runnable pass) {
        roundLock.lock();
        try {
            pass.run();
        } finally {
            roundLock.unlock();
        }
    }

    private void count() {
        if (Thread.currentThread().isInterrupted()) {
            // See stop().
            return;
        }
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
            log.debug("Redis '{}' did not answer the outbox relay", delivery.clusterId(), away);
        } catch (OutboxException failed) {
            if (!databaseFails) {
                databaseFails = true;
                log.warn(
                        "The outbox cannot be read: {}. Until it can be read, invalidations of nodes that do not reach Redis"
                                + " '{}' are delivered late. Check the database and the table.",
                        VisibleText.of(String.valueOf(failed.getMessage())),
                        delivery.clusterId());
            }
        } catch (Throwable fault) {
            if (!faulty) {
                faulty = true;
                log.error(
                        "Delivery from the outbox to Redis '{}' failed, and is tried again every second. Until it"
                                + " succeeds, invalidations of nodes that do not reach Redis are late. This is a defect:"
                                + " report it with its stack trace.",
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
        if (databaseFails) {
            // A node that does not reach the database must not renew the lease.
            inDatabase(() -> outbox.due(delivery.clusterId(), 1));
        }
        Scheduler running = thread;
        boolean partial = isPartial();
        Duration left = lease(partial);
        if (!left.isZero()) {
            holdsLease = false;
            offered = false;
            return left;
        }
        if (partial && !offered) {
            // The first round is left to a node that reaches all masters, which finds no message postponed by this one.
            offered = true;
            return left;
        }
        offered = partial;
        if (!holdsLease) {
            // Set before, so that a connection that is lost meanwhile is not forgotten.
            holdsLease = true;
            againAt = ticker.nanoTime() + LATE_HOLDER.toNanos();
            // A fail-over may have lost deliveries of the former holder, or of this node before it lost its connection.
            inDatabase(messages::redeliver);
        } else if (againAt != null && ticker.nanoTime() - againAt >= 0) {
            againAt = null;
            inDatabase(messages::redeliver);
        }
        long began = ticker.nanoTime();
        while (!isStopped()
                && thread == running
                && ticker.nanoTime() - began < COUNT_EVERY.toNanos()
                && messages.deliverSome()
                && letRecoveriesIn()) {
            log.debug("Another batch of the outbox of Redis '{}' may be due", delivery.clusterId());
        }
        return Duration.ZERO;
    }

    /**
     * Runs a pass for recovering partitions, so that they need not wait for the whole backlog. A pass may take longer than the
     * lease, which is therefore renewed after it.
     *
     * @return whether this node still holds the lease
     */
    private boolean letRecoveriesIn() {
        recovery.deliverToWaiting();
        return lease(isPartial()).isZero();
    }

    private Duration lease(boolean partial) {
        long now = ticker.nanoTime();
        Duration left = store.takeWorkLease("outbox:" + outbox.id(), owner, LEASE, partial);
        leasedAt = left.isZero() ? now : leasedAt;
        return left;
    }

    /**
     * Renews the lease within a batch that takes long. Otherwise another node takes it, and delivers again what this one has
     * delivered: with slow batches on all nodes no message would ever be done.
     */
    private void keepLease() {
        if (ticker.nanoTime() - leasedAt >= LEASE.toNanos() / 3) {
            try {
                Duration unused = lease(isPartial());
            } catch (StoreUnavailableException away) {
                log.debug("The lease on the outbox was not renewed", away);
            }
        }
    }

    /** Also for a while after it: a master that is lost again and again must not make the lease go from node to node. */
    private boolean isPartial() {
        long now = ticker.nanoTime();
        if (!store.availability().breakers().stream().allMatch(CircuitBreaker::mayWrite)) {
            lackedAt = now;
        }
        return lackedAt != null && now - lackedAt < SETTLED.toNanos();
    }

    /** After a failure another node may have had the lease, and a fail-over may have lost its deliveries. */
    private void inDatabase(Runnable work) {
        try {
            work.run();
        } catch (OutboxException failed) {
            holdsLease = false;
            throw failed;
        }
    }
}
