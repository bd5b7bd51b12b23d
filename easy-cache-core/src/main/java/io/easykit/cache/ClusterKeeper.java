package io.easykit.cache;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after one Redis, on one thread of its own.
 *
 * <p>While it is available: learns once an interval which epochs were raised, and delivers the invalidations that a
 * single failure has kept back. A Redis with which that fails several times in a row is marked unavailable, whatever its
 * readers are told: one that answers reads but takes no invalidation would go on giving old values.
 *
 * <p>While it is unavailable: probes, once an interval and when there is a new connection. The first success is confirmed by
 * further probes at a fifth of the interval. When enough probes in a row have succeeded it brings everything that was not
 * delivered: first updates are let through again, so that nothing new is left behind; then what was invalidated shortly
 * before the failure, since that may have been lost with its master; then the journal; then, for prefixes of which the
 * journal could not hold all, a raised epoch, which takes effect everywhere within a look. Only then readers are let in.
 * Whatever fails on the way begins again with the probes.
 *
 * <p>After a connection was lost and is there again, what was invalidated shortly before is said again; an epoch that a
 * store has lost is raised again.
 */
final class ClusterKeeper {

    private static final Logger log = LoggerFactory.getLogger(ClusterKeeper.class);

    /** Every node looks once a second; the rest is for slow answers. */
    private static final Duration SEEN_EVERYWHERE = Duration.ofMillis(1500);

    /** After a probe has succeeded, this many fit into an interval. */
    private static final int CONFIRMATIONS = 5;

    /** How long looks may fail behind large values. */
    private static final Duration EXCUSED = Duration.ofSeconds(10);

    private final Cluster cluster;
    private final EntryStore store;
    private final Availability availability;
    private final Journal journal;
    private final Redelivery redelivery;
    private final AvailabilityOptions options;
    private final Ticker ticker;
    private final AtomicBoolean deliveryQueued = new AtomicBoolean();
    private final AtomicBoolean repetitionDue = new AtomicBoolean();

    /** One that was stopped may still be at work when the next one starts. */
    private final Lock working = new ReentrantLock();

    private volatile @Nullable ScheduledExecutorService thread;
    private int probes;
    private int failedLooks;
    private long quietUntil;
    private long lastLook;

    ClusterKeeper(Cluster cluster, AvailabilityOptions options, Ticker ticker) {
        this.cluster = cluster;
        this.store = cluster.store();
        this.availability = cluster.availability();
        this.journal = cluster.journal();
        this.redelivery = cluster.redelivery();
        this.options = options;
        this.ticker = ticker;
        this.quietUntil = ticker.nanoTime();
        store.onReconnect(this::onReconnect);
        this.lastLook = ticker.nanoTime();
    }

    synchronized void start() {
        if (thread == null) {
            cluster.afterStop().started();
            cluster.epochs().doubt();
            // At the first start nothing was invalidated before, and what comes now needs no repetition.
            repetitionDue.set(!cluster.recent().isEmpty());
            ScheduledExecutorService started = Executors.newSingleThreadScheduledExecutor(task -> {
                Thread keeper = new Thread(task, "easy-cache-keeper-" + cluster.id());
                keeper.setDaemon(true);
                return keeper;
            });
            var unused = started.scheduleWithFixedDelay(
                    this::look, 0, options.probeInterval().toNanos(), TimeUnit.NANOSECONDS);
            thread = started;
        }
    }

    synchronized void stop() {
        ScheduledExecutorService running = thread;
        if (running != null) {
            running.shutdownNow();
            thread = null;
            cluster.afterStop().stopped();
        }
    }

    /** Does not wait for the next look: an invalidation was kept back although the cluster may be told. */
    void deliverSoon() {
        if (deliveryQueued.compareAndSet(false, true)) {
            soon(() -> {
                deliveryQueued.set(false);
                safely(this::catchUp);
            });
        }
    }

    /** A new connection may lead to another master. A probe over it need not wait for its turn. */
    private void onReconnect() {
        repetitionDue.set(true);
        deliverSoon();
        if (!availability.mayRead()) {
            soon(this::look);
        }
    }

    private void soon(Runnable task) {
        ScheduledExecutorService running = thread;
        if (running == null) {
            deliveryQueued.set(false);
            return;
        }
        try {
            running.execute(task);
        } catch (RejectedExecutionException stopped) {
            deliveryQueued.set(false);
            log.debug("The keeper of Redis cluster '{}' was just stopped", cluster.id());
        }
    }

    private void lookAfter(Duration pause) {
        ScheduledExecutorService running = thread;
        if (running != null) {
            try {
                var unused = running.schedule(this::look, pause.toNanos(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException stopped) {
                log.debug("The keeper of Redis cluster '{}' was just stopped", cluster.id());
            }
        }
    }

    /** One look after the cluster. */
    void look() {
        safely(cluster::invalidateLateCommits);
        safely(() -> {
            if (availability.mayRead()) {
                tend();
            } else if (availability.forced().isEmpty()) {
                probe();
            } else {
                probes = 0;
            }
        });
    }

    /** Never throws, or the next look would not come. */
    private void safely(Runnable work) {
        working.lock();
        try {
            work.run();
        } catch (StoreUnavailableException away) {
            log.debug("Redis cluster '{}' did not answer its keeper", cluster.id(), away);
        } catch (Throwable fault) {
            log.error("The keeper of Redis cluster '{}' failed and goes on", cluster.id(), fault);
        } finally {
            working.unlock();
        }
    }

    private void tend() {
        try {
            store.checkPermissions();
            learnEpochs();
            catchUp();
            raiseEpochs();
            cluster.invalidateRolledBackLate();
            cluster.recent().forgetOld();
            failedLooks = 0;
            lastLook = ticker.nanoTime();
        } catch (StoreUnavailableException away) {
            failedLooks += isExcused(away) ? 0 : 1;
            if (failedLooks >= options.probesToRecover()) {
                failedLooks = 0;
                availability.unavailable(away);
            }
            throw away;
        }
    }

    /** Behind large values a look may come late. For how long a node may miss raised epochs has a bound all the same. */
    private boolean isExcused(StoreUnavailableException away) {
        return away.isDelayed() && ticker.nanoTime() - lastLook < EXCUSED.toNanos();
    }

    private void catchUp() {
        if (availability.mayRead()) {
            repeatIfDue();
            deliver();
        }
    }

    private void probe() {
        try {
            store.probe();
            probes++;
            if (probes >= options.probesToRecover()) {
                recover();
            } else {
                lookAfter(options.probeInterval().dividedBy(CONFIRMATIONS));
            }
        } catch (StoreUnavailableException away) {
            probes = 0;
            availability.unavailable(away);
            throw away;
        }
    }

    private void recover() {
        availability.recovering();
        cluster.awaitTold();
        repeat();
        deliver();
        learnEpochs();
        if (raiseEpochs()) {
            quietUntil = ticker.nanoTime() + SEEN_EVERYWHERE.toNanos();
        }
        if (quietUntil - ticker.nanoTime() > 0) {
            return;
        }
        probes = 0;
        lastLook = ticker.nanoTime();
        availability.recovered();
    }

    private void deliver() {
        redelivery.deliver(journal);
    }

    private void learnEpochs() {
        Epochs epochs = cluster.epochs();
        epochs.lostBy(epochs.learn()).forEach(journal::overflow);
    }

    private boolean raiseEpochs() {
        Epochs epochs = cluster.epochs();
        Set<String> prefixes = journal.takeOverflowed();
        int done = 0;
        try {
            for (String prefix : prefixes) {
                epochs.learn(prefix, store.raiseEpoch(prefix, epochs.known(prefix)));
                done++;
                log.warn(
                        "All entries of '{}' in Redis cluster '{}' are dropped: more invalidations waited than could be"
                                + " kept, or the server has lost data",
                        prefix,
                        cluster.id());
            }
        } finally {
            prefixes.stream().skip(done).forEach(journal::overflow);
            journal.raised();
        }
        return done > 0;
    }

    private void repeatIfDue() {
        if (repetitionDue.get()) {
            repeat();
        }
    }

    private void repeat() {
        repetitionDue.set(true);
        redelivery.repeat(cluster.recent().all());
        repetitionDue.set(false);
    }
}
