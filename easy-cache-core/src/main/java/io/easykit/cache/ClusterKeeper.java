package io.easykit.cache;

import io.easykit.cache.Journal.Undelivered;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after one Redis, on one thread of its own.
 *
 * <p>While it is available: learns once an interval which epochs were raised, and delivers the invalidations that a
 * single failure has kept back.
 *
 * <p>While it is unavailable: probes. When enough probes in a row have succeeded it brings everything that was not
 * delivered: first updates are let through again, so that nothing new is left behind; then the journal, which also has
 * what was invalidated shortly before the failure, since that may have been lost with its master; then, for prefixes of
 * which the journal could not hold all, a raised epoch, which takes effect everywhere within a look. Only then readers
 * are let in, with an empty local level. Whatever fails on the way begins again with the probes.
 *
 * <p>After a connection was lost and is there again, what was invalidated shortly before is said again.
 */
final class ClusterKeeper {

    private static final Logger log = LoggerFactory.getLogger(ClusterKeeper.class);
    private static final int BATCH = 100;

    /** Every node looks once a second; the rest is for slow answers. */
    private static final Duration SEEN_EVERYWHERE = Duration.ofMillis(1500);

    private final Cluster cluster;
    private final EntryStore store;
    private final Availability availability;
    private final Journal journal;
    private final AvailabilityOptions options;
    private final Ticker ticker;
    private final AtomicBoolean lookQueued = new AtomicBoolean();

    private volatile @Nullable ScheduledExecutorService thread;
    private int probes;
    private long quietUntil;

    ClusterKeeper(Cluster cluster, AvailabilityOptions options, Ticker ticker) {
        this.cluster = cluster;
        this.store = cluster.store();
        this.availability = cluster.availability();
        this.journal = cluster.journal();
        this.options = options;
        this.ticker = ticker;
        this.quietUntil = ticker.nanoTime();
        store.onReconnect(() -> soon(this::repeatQuietly));
    }

    synchronized void start() {
        if (thread == null) {
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
        }
    }

    /** Looks before the next interval: an invalidation was kept back although the cluster may be told. */
    void lookSoon() {
        if (lookQueued.compareAndSet(false, true)) {
            soon(() -> {
                lookQueued.set(false);
                look();
            });
        }
    }

    private void soon(Runnable task) {
        ScheduledExecutorService running = thread;
        if (running == null) {
            return;
        }
        try {
            running.execute(task);
        } catch (RejectedExecutionException stopped) {
            log.debug("The keeper of Redis cluster '{}' was just stopped", cluster.id());
        }
    }

    /** One look after the cluster; never throws, or the next look would not come. */
    void look() {
        try {
            if (availability.mayRead()) {
                cluster.epochs().learn(store.epochs());
                deliver();
                raiseEpochs();
            } else if (availability.forced().isEmpty()) {
                probe();
            }
        } catch (StoreUnavailableException away) {
            log.debug("Redis cluster '{}' did not answer its keeper", cluster.id(), away);
        } catch (RuntimeException fault) {
            log.error("The keeper of Redis cluster '{}' failed and goes on", cluster.id(), fault);
        }
    }

    private void probe() {
        try {
            store.probe();
            probes++;
            if (probes >= options.probesToRecover()) {
                recover();
            }
        } catch (StoreUnavailableException away) {
            probes = 0;
            availability.recoveryFailed();
            throw away;
        }
    }

    private void recover() {
        availability.recovering();
        deliver();
        if (raiseEpochs()) {
            quietUntil = ticker.nanoTime() + SEEN_EVERYWHERE.toNanos();
        }
        if (quietUntil - ticker.nanoTime() > 0) {
            return;
        }
        cluster.epochs().learn(store.epochs());
        probes = 0;
        cluster.local().clear();
        availability.recovered();
    }

    private void deliver() {
        for (List<Undelivered> next = journal.next(BATCH); !next.isEmpty(); next = journal.next(BATCH)) {
            Map<String, List<Undelivered>> byToken = next.stream().collect(Collectors.groupingBy(Undelivered::token));
            byToken.forEach((token, group) -> {
                store.drop(group.stream().map(Undelivered::key).toList(), token);
                journal.delivered(group);
            });
        }
    }

    private boolean raiseEpochs() {
        Set<String> prefixes = journal.takeOverflowed();
        int done = 0;
        try {
            for (String prefix : prefixes) {
                cluster.epochs().learn(Map.of(prefix, store.raiseEpoch(prefix)));
                done++;
                log.warn("All entries of '{}' are dropped: more invalidations waited than could be kept", prefix);
            }
        } finally {
            prefixes.stream().skip(done).forEach(journal::overflow);
        }
        return done > 0;
    }

    private void repeatQuietly() {
        try {
            repeat();
        } catch (StoreUnavailableException away) {
            log.debug("The invalidations of the last seconds wait for Redis cluster '{}'", cluster.id(), away);
        }
    }

    private void repeat() {
        List<CacheKey<?>> keys = cluster.recent().all();
        for (int from = 0; from < keys.size(); from += BATCH) {
            try {
                store.drop(keys.subList(from, Math.min(from + BATCH, keys.size())), "");
            } catch (StoreUnavailableException away) {
                journal.add(keys.subList(from, keys.size()), "");
                throw away;
            }
        }
    }
}
