package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.Consistency;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.PrefixEpochs;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The epochs of all prefixes of one store, as far as this node has read them. Raising one makes every older entry of the
 * prefix a miss, for any number of entries.
 *
 * <p>A store may have several hashes with epochs ({@link EntryStore#epochHashOf}): each for a range of keys, and several for
 * one range, so that a key can rely on the one that is in its own partition. Every raise is written to all hashes of the
 * range.
 *
 * <p>They are read before the first entry: a node that has just started would take every value for a current one. The recovery
 * worker reads them again every second. A strict reader does so itself if the last successful read was sent more than
 * {@link #MAX_AGE} before; if that fails, it gets nothing from the store ({@link PrefixClearing}). Strict are CP readers, and
 * all readers inside a load: their value becomes a part of a fresh one.
 *
 * <p>Epochs that were read over one connection are unusable after the next one, since the server may have come back with older data
 * ({@link MarkHistory}). Then each reader reads them first.
 */
final class Epochs {

    /** Maximum age of epochs for a strict reader. The same on all nodes: clearings wait for it. */
    static final Duration MAX_AGE = Duration.ofMillis(1500);

    /** After this time no strict reader of any node uses epochs from before. Longer than their age by what tickers may differ. */
    static final Duration SEEN_BY_ALL = MAX_AGE.plusMillis(500);

    /** A line that breaks again and again ends no read. */
    private static final int REREADS = 2;

    private final EntryStore store;
    private final ClusterAvailability availability;
    private final Runnable onRaised;
    private final Ticker ticker;
    private final int copies;
    private final StoreMarks marks;

    private final AtomicReferenceArray<KnownEpochs> hashes;

    /** @param onRaised runs after a raised epoch became known */
    Epochs(EntryStore store, ClusterAvailability availability, Runnable onRaised, Ticker ticker) {
        this.store = store;
        this.availability = availability;
        this.onRaised = onRaised;
        this.ticker = ticker;
        this.copies = store.epochCopies();
        this.hashes = new AtomicReferenceArray<>(store.epochHashes());
        this.marks = new StoreMarks(availability, hashes.length(), ticker);
        for (int i = 0; i < hashes.length(); i++) {
            hashes.set(i, KnownEpochs.NONE);
        }
    }

    /**
     * @throws StoreUnavailableException if no epoch was read yet, or long ago for a strict reader, and the store does not answer
     */
    long of(CacheKey<?> key) {
        return of(key, isStrong(key) || LoadInProgress.mayBeInside());
    }

    /**
     * What this node knows of the epoch of a key.
     *
     * @param clearing as {@link #isClearing}
     */
    record Known(long epoch, boolean clearing) {}

    /** As {@link #of(CacheKey)} and {@link #isClearing}, but does not call the store. Null if these would have to. */
    @Nullable Known known(CacheKey<?> key) {
        long now = ticker.nanoTime();
        boolean strong = isStrong(key);
        int first = store.epochHashOf(key);
        if (!isUpToDate(first, key, strong || LoadInProgress.mayBeInside())) {
            return null;
        }
        String prefix = key.spec().prefix();
        boolean clearing = false;
        for (int hash = first; strong && hash < first + copies; hash++) {
            clearing |= isClearing(hash, prefix, now);
        }
        return new Known(highest(first, prefix), clearing);
    }

    /** Whether {@link #refreshOneOf} has nothing to do. */
    private boolean isUpToDate(int first, CacheKey<?> key, boolean strong) {
        if (copies == 1) {
            return isUsable(first, strong);
        }
        CircuitBreaker own = availability.of(key);
        boolean some = false;
        for (int hash = first; hash < first + copies; hash++) {
            boolean usable = isUsable(hash, strong);
            if (!usable && availability.ofEpochs(hash) == own) {
                return false;
            }
            some |= usable;
        }
        return some;
    }

    /** As {@link #of(CacheKey)}, for a strict reader. */
    long strictOf(CacheKey<?> key) {
        return of(key, true);
    }

    private long of(CacheKey<?> key, boolean strict) {
        int first = store.epochHashOf(key);
        refreshOneOf(first, key, strict);
        return highest(first, key.spec().prefix());
    }

    static boolean isStrong(CacheKey<?> key) {
        return key.spec().options().consistency() == Consistency.CP;
    }

    private long highest(int first, String prefix) {
        long highest = 0;
        for (int hash = first; hash < first + copies; hash++) {
            highest = Math.max(highest, hashes.get(hash).of(prefix));
        }
        return highest;
    }

    /** Whether this node has read no higher epoch, and has read them over the present connection. Does not call the store. */
    boolean isCurrent(CacheKey<?> key, long epoch) {
        int first = store.epochHashOf(key); // a server with older data may accept what it should not
        return isUpToDate(first, key, false) && highest(first, key.spec().prefix()) <= epoch;
    }

    /**
     * Whether the prefix of a CP reader is being cleared: an update of all its entries was prepared and has not ended.
     *
     * @throws StoreUnavailableException as {@link #of}
     */
    boolean isClearing(CacheKey<?> key) {
        return isStrong(key) && isBeingCleared(key);
    }

    /**
     * Whether a prefix is being cleared, for a strict reader.
     *
     * @throws StoreUnavailableException as {@link #of}
     */
    boolean isBeingCleared(CacheKey<?> key) {
        long now = ticker.nanoTime();
        int first = store.epochHashOf(key);
        refreshOneOf(first, key, true);
        for (int hash = first; hash < first + copies; hash++) {
            if (isClearing(hash, key.spec().prefix(), now)) {
                return true;
            }
        }
        return false;
    }

    /** A new connection ends no clearing. The time is that of the check whether the epochs are recent, or one before. */
    private boolean isClearing(int hash, String prefix, long now) {
        KnownEpochs known = hashes.get(hash);
        return isRecent(known, now) && known.clearing().contains(prefix);
    }

    /** Learns those in the key's own partition. Where there is none, any of them does. */
    private void refreshOneOf(int first, CacheKey<?> key, boolean strong) {
        if (copies == 1) {
            refreshIfUnknown(first, strong);
            return;
        }
        CircuitBreaker own = availability.of(key);
        boolean some = false;
        for (int hash = first; hash < first + copies; hash++) {
            if (availability.ofEpochs(hash) == own) {
                refreshIfUnknown(hash, strong);
            }
            some |= isUsable(hash, strong);
        }
        if (!some) {
            refreshIfUnknown(first, strong);
        }
    }

    /** The partition that is asked for the epochs of a key: its own if that has them. */
    CircuitBreaker askedFor(CacheKey<?> key) {
        int first = store.epochHashOf(key);
        CircuitBreaker own = availability.of(key);
        for (int hash = first; hash < first + copies; hash++) {
            if (availability.ofEpochs(hash) == own) {
                return own;
            }
        }
        return availability.ofEpochs(first);
    }

    private void refreshIfUnknown(int hash, boolean strong) {
        if (!isUsable(hash, strong)) {
            refresh(hash);
        }
    }

    private boolean isUsable(int hash, boolean strong) {
        KnownEpochs known = hashes.get(hash);
        return marks.isPresent(hash, known.over()) && (!strong || isRecent(known, ticker.nanoTime()));
    }

    private static boolean isRecent(KnownEpochs known, long now) {
        return now - known.readAt() < MAX_AGE.toNanos();
    }

    /**
     * What one read has found.
     *
     * @param missing prefixes whose epochs the store has lost, with the data of its master perhaps
     * @param clearing prefixes with a clearing
     */
    record Found(List<String> missing, Set<String> clearing) {}

    /** Reads the epochs from the store. Epochs only ever rise, also in the view of a node that reads them late or twice. */
    Found refresh(int hash) {
        // Before the command: the reply need not have an epoch that another thread raises meanwhile.
        Map<String, Long> before = hashes.get(hash).epochs();
        MarkHistory.Connection over = marks.connection(hash);
        long sentAt = ticker.nanoTime();
        PrefixEpochs stored = store.epochs(hash);
        for (int i = 0; i < REREADS && !over.equals(marks.connection(hash)); i++) {
            // The reply may be of the former server.
            over = marks.connection(hash);
            sentAt = ticker.nanoTime();
            stored = store.epochs(hash);
        }
        return learned(hash, before, stored, sentAt, over);
    }

    private Found learned(
            int hash, Map<String, Long> known, PrefixEpochs stored, long sentAt, MarkHistory.Connection over) {
        // After another new connection the mark may be of a later server than this connection's.
        boolean older = over.equals(marks.connection(hash)) && note(hash, stored.mark(), sentAt, over);
        Map<String, Long> before = older ? hashes.get(hash).epochs() : known;
        learn(hash, present -> present.with(stored, sentAt, over));
        List<String> missing = before.entrySet().stream()
                .filter(one -> stored.raised().getOrDefault(one.getKey(), 0L) < one.getValue())
                .map(Map.Entry::getKey)
                .toList();
        return new Found(missing, stored.clearing());
    }

    /**
     * Records a mark that was read. If the server came back with older data, this node takes no value from it any more: every prefix
     * has a higher epoch, which the store seems to have lost, and which the recovery worker raises.
     *
     * @return whether it did
     */
    private boolean note(int hash, long mark, long sentAt, MarkHistory.Connection over) {
        synchronized (marks) { // no other reader goes on in between
            if (!marks.isOlder(hash, mark, sentAt, over)) {
                return false;
            }
            long above = floor(EpochRange.EVERY_PREFIX) + 1;
            learn(hash, known -> known.with(Map.of(EpochRange.EVERY_PREFIX, above)));
        }
        marks.warnOfOlderData();
        return true;
    }

    /** Advances the mark of a hash if it stands. */
    void advanceMark(int hash) {
        long now = ticker.nanoTime();
        if (marks.stands(hash, now)) {
            MarkHistory.Connection over = marks.connection(hash);
            long mark = store.advanceMark(hash);
            if (mark > 0 && over.equals(marks.connection(hash))) {
                boolean unused = note(hash, mark, now, over);
            }
        }
    }

    /** Reads the epochs of all hashes. */
    void refreshAll() {
        for (int hash = 0; hash < hashes.length(); hash++) {
            refresh(hash);
        }
    }

    /** Raises the epochs of some prefixes in one hash, above all that is known here. */
    void raise(int hash, Collection<String> prefixes) {
        raise(store, hash, prefixes, "");
    }

    /**
     * @param to makes the call: the store itself, a bounded or a reopened one
     * @param token of the clearing that ends with it; empty without one
     */
    void raise(EntryStore to, int hash, Collection<String> prefixes, String token) {
        Map<String, Long> raised = to.raiseEpochs(hash, floors(prefixes), token);
        learn(hash, known -> known.with(raised));
    }

    private void learn(int hash, UnaryOperator<KnownEpochs> reply) {
        Map<String, Long> before = hashes.get(hash).epochs();
        Map<String, Long> after = hashes.updateAndGet(hash, reply).epochs();
        if (!after.equals(before)) {
            onRaised.run();
        }
    }

    /**
     * Ends the clearings of some prefixes whose lease is over.
     *
     * @return whether there were any. Then their epochs are raised, and were read
     */
    boolean endExpiredClears(int hash, Collection<String> prefixes) {
        boolean ended = store.endExpiredClears(hash, floors(prefixes));
        if (ended) {
            refresh(hash);
        }
        return ended;
    }

    private Map<String, Long> floors(Collection<String> prefixes) {
        return Set.copyOf(prefixes).stream().collect(Collectors.toMap(prefix -> prefix, this::floor));
    }

    private long floor(String prefix) {
        return IntStream.range(0, hashes.length())
                .mapToLong(hash -> hashes.get(hash).floor(prefix))
                .max()
                .orElse(0);
    }

    /** Makes the next read refresh the epochs first. */
    void markUnknown() {
        for (int i = 0; i < hashes.length(); i++) {
            hashes.updateAndGet(i, KnownEpochs::unknown);
        }
    }
}
