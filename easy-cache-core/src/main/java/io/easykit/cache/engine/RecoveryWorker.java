package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.engine.RecentInvalidations.Recent;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.time.EngineTime.Scheduler;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maintains one partition of a Redis, on one thread of its own. A single server is one partition.
 *
 * <p>While it is available: once an interval tries a write, reads the raised epochs, and delivers the invalidations that a single
 * failure kept back. If this fails several times in a row, the partition is marked unavailable, even if reads succeed: a partition
 * that answers reads but takes no invalidation would return stale values.
 *
 * <p>While it is unavailable, the recovery has these steps. A failure of any of them starts again with the first:
 *
 * <ol>
 *   <li>Probe: once an interval, when there is a new connection, and a fifth of the interval after failed checks have marked it.
 *       For a while after a new connection a probe that fails is repeated after a fifth of the interval: a server that was
 *       just started or promoted refuses calls for a second or two.
 *   <li>Confirm the first success by further probes at a fifth of the interval, until enough in a row have succeeded.
 *   <li>Let updates through to Redis, so that no new invalidation is left behind. Wait for those of this partition
 *       that began before.
 *   <li>Repeat the recent invalidations, which the former master may have lost.
 *   <li>Deliver the pending invalidations.
 *   <li>Deliver the messages of other nodes in the outbox. This step may fail: then the recovery goes on, with a warning.
 *   <li>Raise the epochs of prefixes with more pending invalidations than fit, and wait until every node has read them.
 *   <li>Let readers in.
 * </ol>
 *
 * <p>After a connection was lost and restored, the invalidations shortly before are repeated at once ({@link Repetition}), and
 * again after a fifth of the interval until that has succeeded; an epoch that a store has lost is raised again.
 */
final class RecoveryWorker {

    private static final Logger log = LoggerFactory.getLogger(RecoveryWorker.class);

    /** This many probes that do not wait for the next round fit into an interval. */
    private static final int CONFIRMATIONS = 5;

    /**
     * Time after a new connection in which the server may still be starting. A cluster's master refuses calls for 2 s
     * (CLUSTER_WRITABLE_DELAY in Redis).
     */
    private static final Duration STARTING = Duration.ofSeconds(5);

    /** Maximum time of failing reads behind large values. */
    private static final Duration EXCUSED = Duration.ofSeconds(10);

    private final InvalidationDelivery delivery;
    private final EpochUpkeep epochs;
    private final ClusterUpkeep upkeep;
    private final EntryStore store;
    private final ClusterAvailability availability;
    private final CircuitBreaker breaker;
    private final Partitions partitions;
    private final int partition;
    private final Redelivery redelivery;
    private final CircuitBreakerOptions options;
    private final Ticker ticker;
    private final AtomicBoolean deliveryQueued = new AtomicBoolean();
    private final AtomicBoolean repetitionQueued = new AtomicBoolean();
    private final AtomicBoolean probeQueued = new AtomicBoolean();

    /** A round of a worker that was stopped may still run when the next one starts. */
    private final Lock tickLock = new ReentrantLock();

    private volatile @Nullable Scheduler thread;
    private int probes;
    private int failedTicks;
    private long lastTick;
    private volatile long startingUntil;

    /** @param breaker that of the partition */
    RecoveryWorker(
            InvalidationDelivery delivery,
            EpochUpkeep epochs,
            Redelivery redelivery,
            CircuitBreaker breaker,
            ClusterUpkeep upkeep,
            Ticker ticker) {
        this.delivery = delivery;
        this.epochs = epochs;
        this.upkeep = upkeep;
        this.store = delivery.store();
        this.availability = delivery.store().availability();
        this.breaker = breaker;
        this.partitions = breaker.partitions();
        this.partition = breaker.partition();
        this.redelivery = redelivery;
        this.options = availability.options();
        this.ticker = ticker;
        this.lastTick = ticker.nanoTime();
        this.startingUntil = lastTick;
    }

    synchronized void start() {
        if (thread == null) {
            // At the first start nothing was invalidated before, and what comes now needs no repetition.
            if (!delivery.recent().isEmpty()) {
                breaker.repetition().connected();
            }
            List.of(probeQueued, deliveryQueued, repetitionQueued).forEach(queued -> queued.set(false));
            String name =
                    "easy-cache-recovery-" + delivery.clusterId() + (partitions.count() > 1 ? "-" + partition : "");
            Scheduler started = ticker.newScheduler(name);
            started.repeat(this::tick, options.probeInterval().toNanos());
            thread = started;
        }
    }

    synchronized void stop() {
        Scheduler running = thread;
        if (running != null) {
            running.stopNow();
            thread = null;
        }
    }

    CircuitBreaker breaker() {
        return breaker;
    }

    /** Does not wait for the next round: an invalidation was kept back although the cluster is available. */
    void submitDelivery() {
        once(deliveryQueued, Duration.ZERO, () -> safely(this::catchUp));
    }

    /** Counts a new connection, if it may lead to this partition. From now on readers read the epochs first. */
    boolean isReconnected(@Nullable SocketAddress server) {
        if (!partitions.mayBeAt(partition, server)) {
            return false;
        }
        breaker.repetition().connected();
        startingUntil = ticker.nanoTime() + STARTING.toNanos();
        return true;
    }

    /** After a new connection, which may lead to another master. A probe over it need not wait for its turn. */
    void lookSoon() {
        submitDelivery();
        if (!breaker.mayRead()) {
            var unused = after(Duration.ZERO, this::tick);
        }
    }

    /** For what does not wait for the next round. */
    private Duration pause() {
        return options.probeInterval().dividedBy(CONFIRMATIONS);
    }

    private void tickSoon() {
        var unused = after(pause(), this::tick);
    }

    /** Runs a task after a pause, unless it is queued already. */
    private void once(AtomicBoolean queued, Duration pause, Runnable task) {
        if (!queued.compareAndSet(false, true)) {
            return;
        }
        boolean scheduled = false;
        try {
            scheduled = after(pause, () -> {
                queued.set(false);
                task.run();
            });
        } finally {
            if (!scheduled) {
                queued.set(false);
            }
        }
    }

    /** Does nothing while the worker is stopped, and returns false then. */
    private boolean after(Duration pause, Runnable task) {
        Scheduler running = thread;
        if (running == null) {
            return false;
        }
        try {
            running.schedule(task, pause.toNanos());
            return true;
        } catch (RejectedExecutionException stopped) {
            log.debug("The recovery worker of Redis '{}' was just stopped", delivery.clusterId());
            return false;
        }
    }

    /** One round for the partition. */
    void tick() {
        safely(upkeep::renewMarks);
        boolean available = breaker.mayRead();
        if (!available) {
            // Before readers are let in. These ends need no call of this partition.
            safely(upkeep::endLateWork);
        }
        safely(() -> {
            if (upkeep.repartition() || partitions != availability.partitions()) {
                log.debug("Redis '{}' has other partitions now", delivery.clusterId());
            } else if (breaker.mayRead()) {
                maintain();
            } else if (availability.forced().isEmpty()) {
                probe();
            } else {
                probes = 0;
            }
        });
        if (available) {
            // Each end is a call, and other nodes wait for the epochs that this one reads.
            safely(upkeep::endLateWork);
        }
    }

    /** Never throws, or there would be no next round. */
    private void safely(Runnable work) {
        tickLock.lock();
        try {
            work.run();
        } catch (StoreUnavailableException away) {
            log.debug("Redis '{}' did not answer its recovery worker", delivery.clusterId(), away);
        } catch (Throwable fault) {
            log.error(
                    "A check or recovery of Redis '{}' failed, and is tried again. Until it succeeds, pending"
                            + " invalidations wait. This is a defect: report it with its stack trace",
                    delivery.clusterId(),
                    fault);
        } finally {
            tickLock.unlock();
        }
    }

    private void maintain() {
        try {
            breaker.checked(store.checkWrites(partitions, partition));
            epochs.refresh();
            catchUp();
            epochs.raise();
            delivery.invalidateRolledBackLate();
            delivery.recent().forgetOld(this::isHere);
            failedTicks = 0;
            lastTick = ticker.nanoTime();
        } catch (StoreUnavailableException away) {
            failedTicks += isExcused(away) ? 0 : 1;
            if (failedTicks > 1) {
                breaker.checked(away);
            }
            if (failedTicks >= options.probesToRecover()) {
                failedTicks = 0;
                breaker.unavailable(away);
                // The rounds failed for seconds before this, so another server may have been promoted meanwhile.
                tickSoon();
            }
            throw away;
        }
    }

    /** Whether a failed round does not count: large values delay it, and no raised epochs were missed for long. */
    private boolean isExcused(StoreUnavailableException away) {
        return away.isDelayed() && ticker.nanoTime() - lastTick < EXCUSED.toNanos();
    }

    private void catchUp() {
        if (breaker.mayRead()) {
            repeatIfDue();
            deliver();
        }
    }

    private void probe() {
        try {
            store.probe(partitions, partition);
            probes++;
            if (probes >= options.probesToRecover()) {
                recover();
            } else {
                tickSoon();
            }
        } catch (StoreUnavailableException away) {
            probes = 0;
            breaker.unavailable(away);
            if (ticker.nanoTime() - startingUntil < 0) {
                once(probeQueued, pause(), this::tick);
            }
            throw away;
        }
    }

    private void recover() {
        breaker.recovering();
        delivery.inFlight().awaitEarlier(this::isHere);
        repeat();
        deliver();
        upkeep.deliverOutbox(this::isHere);
        epochs.refresh();
        if (!epochs.raiseBeforeReaders()) {
            return;
        }
        probes = 0;
        lastTick = ticker.nanoTime();
        breaker.recovered();
    }

    private void deliver() {
        redelivery.deliver(delivery.pending(), this::isHere);
    }

    private boolean isHere(CacheKey<?> key) {
        return partitions.of(key) == partition;
    }

    private void repeatIfDue() {
        if (!breaker.repetition().isDue()) {
            return;
        }
        try {
            if (breaker.repetition().mayBegin(ticker.nanoTime())) {
                repeat();
                // Not only in the next round: if the server has older data, a node that has just started takes it until
                // the raise.
                epochs.refresh();
                epochs.raise();
            }
        } finally {
            if (breaker.repetition().isDue()) {
                once(repetitionQueued, pause(), () -> safely(this::catchUp));
            }
        }
    }

    private void repeat() {
        // Read before the repetition, so that a connection that is made meanwhile is not missed.
        int connection = breaker.repetition().connections();
        List<Recent> recent = delivery.recent().all(this::isHere);
        redelivery.repeat(recent, delivery.pending());
        breaker.repetition().succeeded(connection, recent.size(), ticker.nanoTime());
    }
}
