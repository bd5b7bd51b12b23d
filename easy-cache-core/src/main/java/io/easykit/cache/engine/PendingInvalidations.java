package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Partitions;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Invalidations that could not be delivered: one for each key, up to a limit; beyond it the prefixes of all that
 * it held, whose epochs are to be raised instead. Kept in memory: undelivered invalidations are lost if the process dies.
 *
 * <p>Until a delivery the store accepts values that are older than the update. So each delivery counts as an update of this
 * node: its later readers share no load whose value was stored before.
 *
 * <p>Invalidations that the store refuses, for example by an ACL, are due again after a time. Until then they keep back no others.
 */
final class PendingInvalidations {

    private final int limit;
    private final EntryStore store;
    private final Supplier<Partitions> partitions;
    private final OwnUpdates updates;
    private final Map<CacheKey<?>, Pending> undelivered = new LinkedHashMap<>();
    private final Set<EpochRange> overflowed = new LinkedHashSet<>();
    private final Set<EpochRange> raising = new LinkedHashSet<>();
    private final SiblingPrefixes siblings = new SiblingPrefixes();

    /** Ranges that are to be raised a second time, with the ticker time at which that is due. */
    private final Map<EpochRange, Long> again = new HashMap<>();

    private volatile boolean waiting;

    /**
     * @param store decides which epochs belong to a key; not called otherwise
     * @param partitions returns those that readers use; called by each hit while a prefix waits
     * @param updates receives the deliveries
     */
    PendingInvalidations(int limit, EntryStore store, Supplier<Partitions> partitions, OwnUpdates updates) {
        this.limit = limit;
        this.store = store;
        this.partitions = partitions;
        this.updates = updates;
    }

    /** Adds keys of an update that had no others. */
    void add(Collection<? extends CacheKey<?>> keys, String token) {
        add(keys, token, List.of());
    }

    /**
     * @param token of the update that was prepared; empty without one
     * @param together all keys of the update, if some of them are elsewhere; they are invalidated again with these
     */
    synchronized void add(Collection<? extends CacheKey<?>> keys, String token, List<CacheKey<?>> together) {
        List<CacheKey<?>> update = together.isEmpty() && keys.size() > 1 ? List.copyOf(keys) : together;
        if (keys.stream().allMatch(key -> overflowed.containsAll(rangesOf(key)))) {
            keys.forEach(key -> addSiblings(key, together));
        } else {
            // All: epochs are raised after the deliveries, and until then a value can be computed from an older one.
            Set<String> tokens = token.isEmpty() ? Set.of() : Set.of(token);
            keys.forEach(key ->
                    undelivered.merge(key, new Pending(key, tokens, update, !together.isEmpty(), null), Pending::then));
        }
        if (undelivered.size() > limit) {
            undelivered.keySet().forEach(key -> overflowed.addAll(rangesOf(key)));
            undelivered.values().forEach(one -> addSiblings(one.key, one.together()));
            undelivered.clear();
        }
        changed();
    }

    /** Adds what fits without overflowing. For invalidations that are only a precaution. */
    synchronized void addIfRoom(Collection<? extends CacheKey<?>> keys) {
        for (CacheKey<?> key : keys) {
            if (undelivered.size() < limit || undelivered.containsKey(key)) {
                add(List.of(key), "");
            }
        }
    }

    /** All of them. They stay until {@link #delivered}. */
    synchronized List<Pending> all() {
        return List.copyOf(undelivered.values());
    }

    /** Those of one partition, without refused ones. */
    synchronized List<Pending> all(Predicate<CacheKey<?>> partition) {
        return undelivered.values().stream()
                .filter(one -> one.refusedUntil == null && partition.test(one.key))
                .toList();
    }

    /**
     * The keys of refused ones of a partition that are due again.
     *
     * @param now ticker time
     */
    synchronized List<CacheKey<?>> refused(Predicate<CacheKey<?>> partition, long now) {
        return undelivered.values().stream()
                .filter(one -> one.refusedUntil != null && now - one.refusedUntil >= 0 && partition.test(one.key))
                .<CacheKey<?>>map(Pending::key)
                .toList();
    }

    /**
     * Records that the store refuses keys.
     *
     * @param until ticker time at which they are due again
     */
    synchronized void refuse(Collection<CacheKey<?>> keys, long until) {
        keys.forEach(key -> undelivered.computeIfPresent(key, (any, one) -> one.refused(until)));
    }

    /** Records that the store does not refuse these keys any more. */
    synchronized void allow(Predicate<CacheKey<?>> keys) {
        undelivered.replaceAll((key, one) -> one.refusedUntil != null && keys.test(key) ? one.allowed() : one);
    }

    /** Whether the invalidation of a key waits because the store refuses it. */
    synchronized boolean isRefused(CacheKey<?> key) {
        Pending one = undelivered.get(key);
        return one != null && one.refusedUntil != null;
    }

    /** Whether some wait because the store refuses them. */
    synchronized boolean hasRefused() {
        return undelivered.values().stream().anyMatch(one -> one.refusedUntil != null);
    }

    /** Removes delivered invalidations, unless the key was invalidated again meanwhile. */
    synchronized void delivered(List<Pending> done) {
        updates.add(done.stream().map(Pending::key).toList());
        done.forEach(one -> undelivered.remove(one.key, one));
        changed();
    }

    /**
     * The prefixes whose epochs are to be raised, by the hash in which. Taken before that is done: what comes in meanwhile
     * is remembered anew.
     */
    synchronized Map<Integer, Set<String>> takeOverflowed(IntPredicate hashes) {
        Map<Integer, Set<String>> taken = new TreeMap<>();
        for (EpochRange range : List.copyOf(overflowed)) {
            if (hashes.test(range.hash())) {
                taken.computeIfAbsent(range.hash(), any -> new LinkedHashSet<>())
                        .add(range.prefix());
                overflowed.remove(range);
                raising.add(range);
            }
        }
        return taken;
    }

    /** Called when the epochs of these prefixes are raised, or remembered again. */
    synchronized void raised(int hash, Set<String> prefixes) {
        updates.addAll(prefixes);
        prefixes.forEach(prefix -> raising.remove(new EpochRange(hash, prefix)));
        changed();
    }

    /** Remembers that all of a prefix is to be invalidated. */
    synchronized void overflow(int hash, String prefix) {
        overflowed.add(new EpochRange(hash, prefix));
        changed();
    }

    /** Remembers epochs that are to be raised a second time, at a time of the ticker. Meanwhile the entries may be read. */
    synchronized void raiseAgain(int hash, Set<String> prefixes, long at) {
        prefixes.forEach(prefix -> again.merge(new EpochRange(hash, prefix), at, Math::max));
    }

    /** Takes the epochs whose second raise is due. */
    synchronized Map<Integer, Set<String>> takeAgain(IntPredicate hashes, long now) {
        Map<Integer, Set<String>> due = new TreeMap<>();
        for (Map.Entry<EpochRange, Long> one : Set.copyOf(again.entrySet())) {
            if (hashes.test(one.getKey().hash()) && now - one.getValue() >= 0) {
                due.computeIfAbsent(one.getKey().hash(), any -> new HashSet<>())
                        .add(one.getKey().prefix());
                again.remove(one.getKey());
            }
        }
        return due;
    }

    /** Takes one spec of each prefix of which entries were updated together with those in the range of a hash. */
    List<CacheSpec<?>> takeSiblings(int hash) {
        return siblings.take(hash);
    }

    /**
     * Leaves an invalidation to the prefix of its key. Returns whether it is still to be delivered.
     *
     * @param others prefixes whose epochs are raised after that one
     */
    synchronized boolean leaveToPrefix(CacheKey<?> key, Collection<? extends CacheSpec<?>> others) {
        Set<EpochRange> own = key.isAll() ? Set.of() : rangesOf(key);
        if (undelivered.containsKey(key)) {
            overflowed.addAll(own);
        }
        List<EpochRange> left = Stream.concat(overflowed.stream(), raising.stream())
                .filter(range -> key.isAll() ? range.prefix().equals(key.spec().prefix()) : own.contains(range))
                .toList();
        left.forEach(range -> others.forEach(other -> siblings.add(range.hash(), other)));
        return !left.isEmpty();
    }

    /** Whether the invalidation of a key is still to be delivered, by itself or with its prefix. Called by every hit. */
    boolean holds(CacheKey<?> key) {
        return waiting && isWaiting(key);
    }

    /** Whether a prefix as a whole is still to be invalidated, in the range of any hash. */
    synchronized boolean holdsAll(String prefix) {
        return overflowed().contains(prefix);
    }

    private synchronized boolean isWaiting(CacheKey<?> key) {
        boolean prefixesWait = !overflowed.isEmpty() || !raising.isEmpty();
        return undelivered.containsKey(key)
                || (prefixesWait
                        && EpochRange.usedFor(key, store, partitions.get()).stream()
                                .anyMatch(range -> overflowed.contains(range) || raising.contains(range)));
    }

    synchronized boolean isEmpty() {
        return undelivered.isEmpty() && overflowed.isEmpty();
    }

    /** How many keys wait, and prefixes as a whole. */
    synchronized int size() {
        return undelivered.size() + overflowed().size();
    }

    /** The prefixes that wait as a whole, also those whose epochs are being raised. */
    synchronized List<String> overflowed() {
        return Stream.concat(overflowed.stream(), raising.stream())
                .map(EpochRange::prefix)
                .distinct()
                .toList();
    }

    private void changed() {
        waiting = !isEmpty() || !raising.isEmpty();
    }

    private void addSiblings(CacheKey<?> dropped, List<CacheKey<?>> together) {
        rangesOf(dropped).forEach(range -> together.forEach(key -> siblings.add(range.hash(), key.spec())));
    }

    private Set<EpochRange> rangesOf(CacheKey<?> key) {
        return EpochRange.of(key, store);
    }

    /** One invalidation; two of one key are two, even if they are equal. */
    static final class Pending {

        /**
         * Updates of one key whose intents are removed. Later ones were hardly sent, since the circuit breaker opens soon,
         * and end by their leases.
         */
        static final int MOST_TOKENS = 8;

        /** Keys that were updated together with one key. Beyond it, those of its last update are kept. */
        static final int MOST_OTHERS = 100;

        private final CacheKey<?> key;
        private final Set<String> tokens;
        private final List<CacheKey<?>> update;
        private final boolean apart;
        private final @Nullable Long refusedUntil;

        /**
         * @param update all keys of its update; empty if there are no others
         * @param apart whether it may be delivered without the others: some are elsewhere, or the store has refused it
         * @param refusedUntil ticker time at which it is due again; null unless the store refuses it
         */
        private Pending(
                CacheKey<?> key,
                Set<String> tokens,
                List<CacheKey<?>> update,
                boolean apart,
                @Nullable Long refusedUntil) {
            this.key = key;
            this.tokens = tokens;
            this.update = update;
            this.apart = apart;
            this.refusedUntil = refusedUntil;
        }

        private Pending refused(long until) {
            return new Pending(key, tokens, update, true, until);
        }

        private Pending allowed() {
            return new Pending(key, tokens, update, apart, null);
        }

        /** A later invalidation of the key stands for both. Each may have been prepared without an acknowledgement. */
        private Pending then(Pending later) {
            Set<String> both = tokens;
            if (tokens.size() < MOST_TOKENS && !tokens.containsAll(later.tokens)) {
                both = new LinkedHashSet<>(tokens);
                both.addAll(later.tokens);
            }
            return new Pending(key, both, both(update, later.update), apart || later.apart, refusedUntil);
        }

        private static List<CacheKey<?>> both(List<CacheKey<?>> earlier, List<CacheKey<?>> later) {
            if (later.isEmpty() || earlier.isEmpty()) {
                return later.isEmpty() ? earlier : later;
            }
            if (earlier.size() + later.size() > MOST_OTHERS || earlier.equals(later)) {
                return later;
            }
            Set<CacheKey<?>> both = new LinkedHashSet<>(earlier);
            both.addAll(later);
            return List.copyOf(both);
        }

        CacheKey<?> key() {
            return key;
        }

        /** Tokens of the updates that were prepared, or may have been; empty if there is none. */
        Set<String> tokens() {
            return tokens;
        }

        /** All keys of its updates, if it may be delivered without some of them. */
        List<CacheKey<?>> together() {
            return apart ? update : List.of();
        }
    }
}
