package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Clears caches in one Redis: makes all entries of a prefix misses by raising its epochs, however many entries there are.
 *
 * <h2>Two phases</h2>
 *
 * A clearing is an update of the key that stands for all entries ({@link CacheKey#isAll()}), with the phases of any other
 * update ({@link Updates}). <em>Prepare</em> writes a <b>clearing</b> with a lease beside the epochs. The <em>end</em> raises
 * the epochs and removes the clearing in one step. A loader stores under the epoch with which it fetched. So a value whose load
 * began before the end has the older epoch and is a miss afterwards; it may be stored.
 *
 * <ul>
 *   <li>If the node dies between the phases, the first node that reads the epochs after the lease raises them.
 *   <li>If the lease ends before the commit, the epochs are raised too early, and once more by the end.
 *   <li>If the reply of a prepare is lost, the clearing ends by its lease: one clearing too many.
 *   <li>If the end does not reach Redis, this node raises the epochs when Redis answers. Until then its readers get nothing of the
 *       prefix from Redis; in a Redis Cluster this holds for the keys that rely on a copy of the epochs that is not raised yet.
 *       Beside it the clearing ends by its lease.
 *   <li>A script that fails half way leaves a clearing that has to be ended again, never an epoch that is not raised.
 *   <li>Only the clock of Redis decides whether a lease is over. If it jumps, a clearing ends too early or too late.
 * </ul>
 *
 * <h2>When it takes effect</h2>
 *
 * <ul>
 *   <li>On this node: at once. Its readers share no load that began before; they may have to wait for its end.
 *   <li>AP, other nodes: when they have read the epochs, which they do once a probe interval, or inside a load as CP readers do.
 *       They may share a load that began within the stale window before.
 *   <li>AP, if the commit comes after the end of the update ({@link LateCommits}), or is never reported: the epochs are raised
 *       too early. A value that is loaded before the commit is stored under the new epoch, and is returned until they are raised
 *       again: in the first round of the worker after the commit, or when the lease of the clearing is over.
 *   <li>CP, other nodes: after the update has returned, no read that begins gets an older value. A CP reader uses epochs that were
 *       read at most {@link Epochs#MAX_AGE} before, and gets nothing from the store without them. The update waits
 *       {@link Epochs#SEEN_BY_ALL} after its end, which is longer. If the end did not reach Redis, the clearing is still there, and
 *       CP readers that find one load without storing. This requires tickers whose rates differ by less than a third, and a Redis
 *       that does not lose acknowledged writes. Exception: before the update has returned, CP readers may get the older value
 *       until their node has read the clearing. An update inside another one, or inside a transaction, leaves the wait to the end
 *       of that ({@link Updates}).
 * </ul>
 *
 * <h2>Together with other entries</h2>
 *
 * Until all nodes have read the epochs, a reader can compute an entry of the same update from an older value of a cleared one.
 * The same holds for entries in the ranges of different hashes with epochs. Such updates end twice ({@link SecondEnd}).
 * Entries that are computed from cleared ones, and are not named by the update, stay. If a CP entry is named together with an
 * AP prefix, its readers get values that are computed from older ones until the end has reached Redis.
 *
 * <h2>Near level and order</h2>
 *
 * The near level of this node is cleared around each command of a clearing ({@link NearStore}), and that of another node when
 * it has read the epochs. So {@code near-ttl} does not add to the time until other nodes follow. In a serial cache a clearing
 * waits for no turn and delays no key ({@link OrderedCalls}).
 */
final class PrefixClearing {

    /**
     * Entries of the same update stay prepared for so much longer than the clearing: they must not be stored before other
     * nodes have ended it and all have read that.
     */
    static final Duration REPAIR = Duration.ofSeconds(5);

    private static final Logger log = LoggerFactory.getLogger(PrefixClearing.class);

    private final Epochs epochs;
    private final InvalidationDelivery delivery;
    private final PendingInvalidations pending;
    private final EntryStore store;
    private final CacheListener listener;
    private final Ticker ticker;

    PrefixClearing(Epochs epochs, InvalidationDelivery delivery, EngineContext engine) {
        this.epochs = epochs;
        this.delivery = delivery;
        this.pending = delivery.pending();
        this.store = delivery.store();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /**
     * @throws InvalidCacheKeyException if the key stands for all entries
     */
    static void requireEntry(CacheKey<?> key) {
        if (key.isAll()) {
            throw new InvalidCacheKeyException(
                    "The key of " + key + " names no entry, so nothing can be read by it. Use it"
                            + " to update or invalidate, and key(…) to read.");
        }
    }

    /** Whether one of the keys stands for all entries. */
    static boolean isIn(Collection<? extends CacheKey<?>> keys) {
        for (CacheKey<?> key : keys) {
            if (key.isAll()) {
                return true;
            }
        }
        return false;
    }

    /** The keys that name single entries. */
    static Collection<? extends CacheKey<?>> entriesOf(Collection<? extends CacheKey<?>> keys) {
        return isIn(keys) ? keys.stream().filter(key -> !key.isAll()).toList() : keys;
    }

    /** The keys that stand for all entries. */
    static List<CacheKey<?>> clearedBy(Collection<? extends CacheKey<?>> keys) {
        return isIn(keys)
                ? keys.stream()
                        .<CacheKey<?>>map(key -> key)
                        .filter(CacheKey::isAll)
                        .toList()
                : List.of();
    }

    private static Set<String> prefixesOf(Collection<? extends CacheKey<?>> cleared) {
        Set<String> prefixes = new LinkedHashSet<>();
        cleared.forEach(key -> prefixes.add(key.spec().prefix()));
        return prefixes;
    }

    /**
     * Prepares a clearing, in all hashes with epochs that answer.
     *
     * @throws StoreUnavailableException if one does not
     */
    static void prepare(EntryStore to, List<CacheKey<?>> cleared, String token, Duration lease, Ticker ticker) {
        Set<String> prefixes = prefixesOf(cleared);
        inAll(to, ticker, (bounded, hash) -> bounded.prepareClear(hash, prefixes, token, lease));
    }

    /**
     * Raises the epochs of all prefixes at once, in all hashes that answer.
     *
     * @return the hashes that have not answered
     * @throws StoreUnavailableException if none has
     */
    Set<Integer> raise(List<CacheKey<?>> cleared) {
        Set<String> prefixes = prefixesOf(cleared);
        Set<Integer> left = new HashSet<>();
        // Readers of this node join no load that began before.
        delivery.ownUpdates().add(cleared);
        prefixes.forEach(delivery.local()::clear);
        try {
            inAll(store, ticker, (bounded, hash) -> {
                left.add(hash);
                epochs.raise(bounded, hash, prefixes, "");
                left.remove(hash);
                raiseAgain(hash, prefixes);
            });
        } catch (StoreUnavailableException away) {
            if (left.size() == store.epochHashes()) {
                throw away;
            }
            log.debug("{} in Redis '{}': cleared in a part of it", cleared, delivery.clusterId(), away);
        } finally {
            delivery.ownUpdates().add(cleared);
        }
        return left;
    }

    /**
     * Ends a clearing, or clears without one. Epochs that cannot be raised now are raised before their partition is read again.
     * Until then no reader of this node gets an entry from Redis whose key relies on them ({@link EpochRange#usedFor}).
     *
     * @param token of the clearing; empty if there is none, or it must stay
     * @return the keys if Redis has acknowledged it, else none
     */
    List<CacheKey<?>> end(List<CacheKey<?>> cleared, String token) {
        if (cleared.isEmpty()) {
            return cleared;
        }
        StoreUnavailableException away = raiseOrKeep(cleared, token);
        cleared.forEach(key -> listener.onInvalidation(key, away));
        return away == null ? cleared : List.of();
    }

    private @Nullable StoreUnavailableException raiseOrKeep(List<CacheKey<?>> cleared, String token) {
        return delivery.inFlight().run(cleared, () -> raiseOrKeepNow(cleared, token));
    }

    private @Nullable StoreUnavailableException raiseOrKeepNow(List<CacheKey<?>> cleared, String token) {
        delivery.ownUpdates().add(cleared);
        Set<String> prefixes = prefixesOf(cleared);
        prefixes.forEach(delivery.local()::clear);
        try {
            inAll(store, ticker, (bounded, hash) -> {
                boolean raised = false;
                try {
                    epochs.raise(bounded, hash, prefixes, token);
                    raised = true;
                } finally {
                    if (!raised) {
                        prefixes.forEach(prefix -> pending.overflow(hash, prefix));
                    }
                }
            });
            return null;
        } catch (StoreUnavailableException away) {
            log.debug("{} in Redis '{}': cleared when it answers", cleared, delivery.clusterId(), away);
            return away;
        } finally {
            delivery.ownUpdates().add(cleared);
        }
    }

    /**
     * Clears a cache for an operator.
     *
     * @return whether Redis has acknowledged it. If not, the rest is done before the cluster is read again
     */
    boolean drop(CacheKey<?> all) {
        boolean raised = raiseOrKeep(List.of(all), "") == null;
        Set<String> prefixes = Set.of(all.spec().prefix());
        for (int hash = 0; hash < store.epochHashes(); hash++) {
            raiseAgain(hash, prefixes);
        }
        return raised;
    }

    /** Whether all hashes with epochs are written in one step. */
    boolean isOneStep() {
        return store.epochHashes() == 1;
    }

    /** Whether the invalidation of a key is still to be delivered, and is not refused. */
    boolean isPending(CacheKey<?> key) {
        return key.isAll() ? pending.holdsAll(key.spec().prefix()) : pending.holds(key) && !pending.isRefused(key);
    }

    /** Values computed from dropped entries may be computed again before every node has read the epochs of all hashes. */
    private void raiseAgain(int hash, Set<String> prefixes) {
        if (store.epochHashes() > 1) {
            pending.raiseAgain(hash, prefixes, EpochUpkeep.seenEverywhere(ticker.nanoTime()));
        }
    }

    /**
     * Waits until no CP reader of any node can get a value from before, or one that is computed from it, if the update clears
     * a cache and one of its keys is CP.
     */
    static void awaitSeen(Collection<? extends CacheKey<?>> keys, Ticker ticker) {
        if (!isIn(keys) || keys.stream().noneMatch(Epochs::isStrong)) {
            return;
        }
        try {
            ticker.pause(Epochs.SEEN_BY_ALL.toNanos());
        } catch (InterruptedException stop) {
            log.warn(
                    "{} was cleared, but the thread was interrupted before all nodes knew it: for {} ms, other nodes may return"
                            + " old values. Do not interrupt threads that clear CP caches.",
                    clearedBy(keys),
                    Epochs.SEEN_BY_ALL.toMillis());
            Thread.currentThread().interrupt();
        }
    }

    private interface InHash {
        void call(EntryStore bounded, int hash);
    }

    /** All hashes together wait once for a partition that is silent. */
    private static void inAll(EntryStore store, Ticker ticker, InHash call) {
        EntryStore bounded = new BoundedStore(store, ticker);
        List<Integer> hashes = IntStream.range(0, store.epochHashes()).boxed().toList();
        AllCalls.forEach(hashes, hash -> call.call(bounded, hash));
    }
}
