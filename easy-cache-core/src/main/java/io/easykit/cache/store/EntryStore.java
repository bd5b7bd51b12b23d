package io.easykit.cache.store;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One Redis with its entries: the five operations of the lock protocol, and the plain read of the hit path. Each operation is
 * atomic, and uses the store's own clock. {@code CacheDispatcher} describes how they work together.
 *
 * <p>Implementations throw {@link StoreUnavailableException} when they cannot answer within their command timeout; then the
 * operation may or may not have happened.
 */
public interface EntryStore {

    /**
     * Reads an entry as it is stored. Decides nothing and gives no load lease: the cheap way to a hit.
     *
     * @param epoch the prefix's epoch as read by this node; a value of an older one is a miss
     */
    Snapshot read(CacheKey<?> key, long epoch);

    /** {@link #fetch(CacheKey, long, boolean)} of a reader whose options decide whether it takes a stale value. */
    default Fetched fetch(CacheKey<?> key, long epoch) {
        return fetch(key, epoch, key.spec().options().allowsStale());
    }

    /** Shows an entry as it is stored, for people. Changes nothing. */
    StoredEntry inspect(CacheKey<?> key);

    /**
     * Decides the outcome for the caller, and gives it the load lease if there is no loader.
     *
     * @param epoch the prefix's epoch as read by this node; a value of an older one is a miss
     * @param allowsStale whether the caller may be given a value inside the stale window
     */
    Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale);

    /**
     * Returns the value that the caller may have, and gives no load lease.
     *
     * @param epoch the prefix's epoch as read by this node; a value of an older one is a miss
     * @param allowsStale whether the caller may be given a value inside the stale window
     * @return null if there is none
     */
    @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale);

    /**
     * Returns the value for a reader whose load has failed: a valid one or, for {@link CacheOptions#keptPastEnd()}, one that has
     * expired and was not invalidated. Gives no load lease.
     *
     * @param epoch the prefix's epoch as read by this node; a value of an older one is none
     * @return null if there is none
     */
    @Nullable Peeked peekExpired(CacheKey<?> key, long epoch);

    /**
     * Stores a loaded value if the fencing token of the lease is still there, so if the entry was not invalidated since the lease
     * was given. The lease itself may have ended.
     *
     * @param ttl until the value expires. It is kept for {@link CacheOptions#keptPastEnd()} longer
     * @return false if it was rejected; then nothing has changed
     */
    boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration ttl);

    /** Releases a load lease without a store, so that the next reader loads at once. */
    void releaseLoad(CacheKey<?> key, LoadLease lease);

    /**
     * Prepares an update before its commit: until {@link #invalidate} with the same token, or the end of the lease, nothing
     * can be stored.
     *
     * @param lease longer than the commit
     */
    void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease);

    /**
     * Ends an update, committed or not, or invalidates without one. Idempotent.
     *
     * @param token of the update; empty without one
     */
    void invalidate(Collection<? extends CacheKey<?>> keys, String token);

    /**
     * Removes an unreadable value, if it is still there: a good one that was stored meanwhile stays. The load lease is removed
     * too, unless the entry has a value of another type.
     */
    void removeUnreadable(CacheKey<?> key, Envelope unreadable);

    /**
     * Ends an update like {@link #invalidate}, and drops the value without a stale window, which may be over by now.
     */
    void invalidateNow(Collection<? extends CacheKey<?>> keys, String token);

    /**
     * {@link #invalidateNow(Collection, String)} of several keys, each with the token of its own update. A key that fails for a
     * {@linkplain StoreUnavailableException#isOfSingleKey reason of its own} keeps back no other one.
     *
     * @return the failures of such keys
     */
    default Map<CacheKey<?>, StoreUnavailableException> invalidateNow(Map<CacheKey<?>, String> tokens) {
        Map<CacheKey<?>, StoreUnavailableException> failed = new HashMap<>();
        tokens.forEach((key, token) -> {
            try {
                invalidateNow(List.of(key), token);
            } catch (StoreUnavailableException failure) {
                if (!failure.isOfSingleKey()) {
                    throw failure;
                }
                failed.put(key, failure);
            }
        });
        return failed;
    }

    /**
     * Makes several calls, which do not depend on each other. A store that can sends them all before it waits for the first
     * reply, and waits for all together no longer than the command timeout.
     *
     * @return one reply for each call, in their order. The failure of one does not concern the others
     */
    default <T> List<EntryReply<T>> callAll(List<? extends EntryCall<T>> calls) {
        List<EntryReply<T>> replies = new ArrayList<>(calls.size());
        for (EntryCall<T> call : calls) {
            replies.add(EntryReply.of(() -> call.on(this)));
        }
        return replies;
    }

    /** Whether {@link #callLater} is supported, which sends calls without a thread that waits for the reply. Never changes. */
    default boolean isAsynchronous() {
        return false;
    }

    /**
     * Sends a call and returns at once.
     *
     * @return completed within the command timeout, on any thread, which may be one of the client: dependents must not run there. A
     *     failure is, or wraps, a {@link StoreUnavailableException}
     */
    default <T> CompletionStage<T> callLater(EntryCall<T> call) {
        throw new UnsupportedOperationException("This store answers on the thread of its caller");
    }

    /**
     * The parts of the store that can fail by themselves, as they are now. The same object as long as the same keys belong
     * together. Does not wait for the store.
     */
    default Partitions partitions() {
        return Partitions.ONE;
    }

    /**
     * Number of hashes with epochs. Fixed, and the same for all nodes. A range of keys has one of them, or several that follow
     * each other.
     */
    default int epochHashes() {
        return 1;
    }

    /** How many hashes with epochs each range has. The highest of a prefix's epochs in them counts. */
    default int epochCopies() {
        return 1;
    }

    /** The first hash with epochs of an entry. Each read calls this. */
    default int epochHashOf(CacheKey<?> key) {
        return 0;
    }

    /** Reads one hash with epochs. */
    PrefixEpochs epochs(int hash);

    /**
     * Adds one to the mark of a hash with epochs. The mark is never set back, so a lower one means that the store has lost its latest
     * data.
     *
     * @return the new mark; zero if the store takes none now, or never, as one that cannot lose data
     */
    default long advanceMark(int hash) {
        return 0;
    }

    /**
     * Raises the epochs of some prefixes in one hash. Each of their values that is stored now, or later under a load lease that was
     * given before, is a miss then. A node reads all new epochs of the hash at once, so a value that was computed from another one
     * becomes a miss together with it.
     *
     * @param known the prefixes, each with the highest epoch that the caller knows; the store may have lost it
     * @param token of the clearing that ends with it; empty without one
     * @return the new epochs, higher than any before
     */
    Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token);

    /**
     * Prepares the clearing of prefixes in the range of one hash. Ends with {@link #raiseEpochs} of the same
     * token, or after the lease with {@link #endExpiredClears}.
     *
     * @param lease longer than the commit
     */
    void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease);

    /**
     * Raises the epochs of those of some prefixes which have a clearing whose lease is over, and ends these clearings.
     *
     * @param known the prefixes, each with the highest epoch that the caller has read
     * @return whether there were any
     */
    boolean endExpiredClears(int hash, Map<String, Long> known);

    /**
     * Takes or renews a lease on work that one node does for all.
     *
     * @param name which work
     * @param owner unique to the caller
     * @param duration the same for all callers: a lease that lasts longer was left behind when the clock was set back, and counts as over
     * @param partial whether the caller can do only a part of the work now. A node that can do all of it takes the lease from
     *     one that cannot
     * @return zero if the caller holds it now, else how long another owner has it
     */
    Duration takeWorkLease(String name, String owner, Duration duration, boolean partial);

    /** Runs all commands that readers and updaters need in a partition, to check that they work. */
    void probe(Partitions partitions, int partition);

    /** Probes a store that works or fails as a whole. */
    default void probe() {
        probe(Partitions.ONE, 0);
    }

    /**
     * Checks with a small write whether a partition takes writes of the cache. Costs little: called once a second.
     *
     * @return why no new entries can be stored although reads and invalidations succeed, such as a server that is full; null if
     *     they can
     * @throws StoreUnavailableException if a command is refused, or the partition takes no writes
     */
    default @Nullable StoreUnavailableException checkWrites(Partitions partitions, int partition) {
        return null;
    }

    /**
     * A store for calls that come after the connection was closed on purpose. It has a connection of its own, and is closed
     * after use. The same store if its connection is not closed, or cannot be replaced.
     */
    default EntryStore reopened() {
        return this;
    }

    /** Closes the connection of a reopened store. */
    default void close() {}

    /**
     * Registers an action for restored connections: writes acknowledged shortly before may have been lost with a master that
     * failed over.
     *
     * @param action receives the address of the server, or null if it is unknown
     */
    default void onReconnect(Consumer<@Nullable SocketAddress> action) {}

    /**
     * Registers an action for hints: names of entries that other nodes have invalidated, or of all entries of a prefix. Best effort;
     * a store without hints calls nothing.
     *
     * @param action must not wait for the store
     */
    default void onHint(Consumer<String> action) {}

    /**
     * An entry as it is stored, as far as a reader without a script can decide.
     *
     * @param value if there is one; not necessarily one that may be returned
     * @param fresh whether the value was valid when the store answered: every reader may use it
     * @param expired whether the value has certainly expired, and is kept for readers whose loads fail
     * @param invalidated whether the value was invalidated or is under an update; inside the stale window AP readers may
     *     still have it
     * @param loading whether a load lease was given
     * @param updating whether an update is being committed
     * @param remaining lower bound of the value's remaining life: used only to refresh early. Null if unknown
     */
    record Snapshot(
            @Nullable Envelope value,
            boolean fresh,
            boolean expired,
            boolean invalidated,
            boolean loading,
            boolean updating,
            @Nullable Duration remaining) {

        public static final Snapshot NOTHING = new Snapshot(null, false, false, false, false, false, null);
    }
}
