package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.PendingInvalidations.Pending;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.type.VisibleText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers updates that are made after the cache was stopped, for example while beans are destroyed, because no worker would
 * deliver them later. Each is sent at once, if necessary over a new connection, until a common time limit for all of them is
 * reached.
 *
 * <p>Epochs of several hashes have to be raised a second time ({@link EpochUpkeep}), after the process may have ended. That is
 * left to the other nodes: a clearing whose lease ends when all of them have read the first epochs.
 */
final class StoppedCluster {

    private static final Logger log = LoggerFactory.getLogger(StoppedCluster.class);

    /** Time for all late updates together: the process is to end. */
    private static final Duration BOUND = Duration.ofSeconds(2);

    private static final Duration PAUSE = Duration.ofMillis(20);
    private static final int NAMED = 10;

    private final String id;
    private final EntryStore store;
    private final InvalidationDelivery delivery;
    private final PendingInvalidations pending;
    private final RecentInvalidations recent;
    private final Epochs epochs;
    private final int hashes;
    private final Ticker ticker;
    private final @Nullable OutboxWriter outbox;
    private final String token =
            "stop" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    private volatile boolean stopped;
    private long spentNanos;
    private boolean reportedLost;
    private boolean reportedRecorded;

    /**
     * @param store the store itself: a cluster that is marked unavailable is not looked after any more
     * @param outbox null without one
     */
    StoppedCluster(
            EntryStore store,
            InvalidationDelivery delivery,
            Epochs epochs,
            @Nullable OutboxWriter outbox,
            Ticker ticker) {
        this.store = store;
        this.delivery = delivery;
        this.outbox = outbox;
        this.id = delivery.clusterId();
        this.pending = delivery.pending();
        this.recent = delivery.recent();
        this.epochs = epochs;
        this.hashes = delivery.store().epochHashes();
        this.ticker = ticker;
    }

    synchronized void started() {
        stopped = false;
        reportedLost = false;
        reportedRecorded = false;
        spentNanos = 0;
    }

    /** Delivers the rest, once. */
    synchronized void stopped() {
        stopped = true;
        long startedAt = ticker.nanoTime();
        try {
            delivery.keepRolledBack();
            deliverTo(new BoundedStore(store, ticker));
        } catch (StoreUnavailableException away) {
            log.debug("Redis '{}' did not answer when its cache was stopped", id, away);
        } finally {
            report(ticker.nanoTime() - startedAt);
        }
    }

    boolean isStopped() {
        return stopped;
    }

    /** Prepares a late update. Whether that was possible. */
    synchronized boolean prepare(Consumer<EntryStore> prepare) {
        return attempt(prepare, Integer.MAX_VALUE);
    }

    /**
     * Prepares a late update whose data may have changed already. Tried once, and its time does not count: it is left to the
     * delivery.
     */
    synchronized boolean prepareOnce(Consumer<EntryStore> prepare) {
        long before = spentNanos;
        boolean prepared = attempt(prepare, 1);
        spentNanos = before;
        return prepared;
    }

    /** Delivers the pending invalidations of a late update. */
    synchronized void deliver() {
        boolean delivered = false;
        try {
            delivered = attempt(this::deliverTo, Integer.MAX_VALUE);
        } finally {
            if (!delivered || pending.hasRefused()) {
                report(spentNanos);
            }
        }
    }

    /** Delivers the invalidations of a late rollback, also those that no worker would send when they are due. */
    void deliverRolledBack() {
        delivery.keepRolledBack();
        if (!pending.all().isEmpty()) {
            deliver();
        }
    }

    /**
     * Each hash and partition separately: an outage of one does not keep the invalidations of the others back.
     *
     * @param to bounded, so that all calls of this delivery wait once for a partition that is silent
     */
    private void deliverTo(EntryStore to) {
        List<Runnable> steps = new ArrayList<>();
        for (int i = 0; i < hashes; i++) {
            int hash = i;
            steps.add(() -> raise(to, hash));
        }
        steps.add(() -> leaveSecondRaise(to));
        // There is no later time to try these again.
        steps.add(() -> pending.allow(any -> true));
        Partitions partitions = to.partitions();
        Redelivery redelivery = new Redelivery(to, recent, new SiblingsIn(id, to), ticker);
        for (int i = 0; i < partitions.count(); i++) {
            int partition = i;
            steps.add(() -> redelivery.deliver(pending, key -> partitions.of(key) == partition));
        }
        AllCalls.forEach(steps, Runnable::run);
    }

    /** Invalidates the prefixes that wait as a whole. */
    private void raise(EntryStore to, int hash) {
        Set<String> prefixes = pending.takeOverflowed(taken -> taken == hash).getOrDefault(hash, Set.of());
        if (prefixes.isEmpty()) {
            return;
        }
        boolean raised = false;
        try {
            epochs.raise(to, hash, prefixes, "");
            raised = true;
        } finally {
            if (!raised) {
                prefixes.forEach(prefix -> pending.overflow(hash, prefix));
            }
            pending.raised(hash, prefixes);
        }
        if (hashes > 1) {
            pending.raiseAgain(hash, prefixes, ticker.nanoTime());
        }
        for (CacheSpec<?> sibling : pending.takeSiblings(hash)) {
            for (int any = 0; any < hashes && sibling.clusterId().equals(id); any++) {
                pending.raiseAgain(any, Set.of(sibling.prefix()), ticker.nanoTime());
            }
        }
    }

    /** Other nodes end a clearing after its lease. Where this fails, the second raise does not take place. */
    private void leaveSecondRaise(EntryStore to) {
        Map<Integer, Set<String>> again = pending.takeAgain(any -> true, EpochUpkeep.seenEverywhere(ticker.nanoTime()));
        AllCalls.forEach(again, (hash, prefixes) -> {
            try {
                to.prepareClear(hash, prefixes, token, Epochs.SEEN_BY_ALL);
            } catch (StoreUnavailableException away) {
                pending.raiseAgain(hash, prefixes, ticker.nanoTime());
                log.debug("The second raise of {} in Redis '{}' could not be left to other nodes", prefixes, id, away);
            }
        });
    }

    /** Keys of this cluster only, because the other clusters have no worker any more. */
    private record SiblingsIn(String id, EntryStore store) implements SiblingKeys {

        @Override
        public void prepare(Collection<? extends CacheKey<?>> keys, String token) {
            // The last invalidation needs no preparation.
        }

        @Override
        public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
            try {
                store.invalidateNow(
                        keys.stream()
                                .filter(key -> key.spec().clusterId().equals(id))
                                .toList(),
                        token);
            } catch (StoreUnavailableException away) {
                log.debug("{} could not be invalidated again", keys, away);
            }
        }
    }

    /** Makes a call, and waits once in each try for each partition. Only the time of failed calls counts towards the bound. */
    private boolean attempt(Consumer<EntryStore> call, int times) {
        long startedAt = ticker.nanoTime();
        EntryStore late = store.reopened();
        try {
            for (int i = 0; i < times && spentNanos + ticker.nanoTime() - startedAt < BOUND.toNanos(); i++) {
                try {
                    call.accept(new BoundedStore(late, ticker));
                    return true;
                } catch (StoreUnavailableException away) {
                    log.debug("Redis '{}' does not answer a late update", id, away);
                    ticker.pause(PAUSE.toNanos());
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } finally {
            if (late != store) {
                late.close();
            }
        }
        spentNanos += ticker.nanoTime() - startedAt;
        return false;
    }

    /** Reports what was not delivered: once what is lost, and once what other processes deliver. */
    private void report(long tookNanos) {
        List<String> lost = new ArrayList<>();
        List<String> recorded = new ArrayList<>();
        for (String prefix : pending.overflowed()) {
            boolean written = outbox != null && !outbox.unwritten().containsAnyOf(prefix);
            (written ? recorded : lost).add("all of '" + VisibleText.of(prefix) + "'");
        }
        for (Pending one : pending.all()) {
            boolean written = outbox != null && !outbox.unwritten().contains(one.key());
            (written ? recorded : lost).add(one.key().toString());
        }
        if (!recorded.isEmpty() && !reportedRecorded) {
            reportedRecorded = true;
            log.info(
                    "{} invalidations were not delivered to Redis '{}' before the cache was stopped: {}. They are in"
                            + " the outbox, take effect with the lease of their update, or belong to an update that was refused."
                            + " Other processes deliver those in the outbox, or this one when it is started again.",
                    recorded.size(),
                    id,
                    firstOf(recorded));
        }
        if (!lost.isEmpty() && !reportedLost) {
            reportedLost = true;
            log.warn(
                    "{} invalidations were not delivered to Redis '{}' within {} ms after the cache was stopped: {}."
                            + " They are lost when this process ends, and old values stay until their TTL. Later ones are"
                            + " lost without a further message. Restart Redis before the application, or invalidate these"
                            + " keys and caches again.",
                    lost.size(),
                    id,
                    TimeUnit.NANOSECONDS.toMillis(tookNanos),
                    firstOf(lost));
        }
    }

    private static List<String> firstOf(List<String> names) {
        return names.subList(0, Math.min(NAMED, names.size()));
    }
}
