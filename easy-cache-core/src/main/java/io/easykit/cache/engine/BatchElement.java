package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One element of a batch read, on its way to a result. Used by the thread of its reader alone.
 *
 * <p>The loads that it owns are <em>held</em>: other readers wait for them until they are completed.
 */
final class BatchElement<K, V> {

    private final K id;
    private final List<Held<V>> held = new ArrayList<>(1);
    private final ReadRequest<V> arrived;
    private ReadRequest<V> read;
    private Snapshot seen = Snapshot.NOTHING;
    private Way way = Way.STORED;
    private @Nullable LoadResult<V> result;
    private @Nullable LoadResult<V> superseded;
    private @Nullable LoadResult<V> older;
    private @Nullable LoadLease lease;
    private @Nullable Awaited<V> awaited;
    private @Nullable StoreUnavailableException away;
    private boolean counted;
    private boolean missDeferred;
    private boolean tried;
    private boolean overdue;

    BatchElement(K id, ReadRequest<V> read) {
        this.id = id;
        this.arrived = read;
        this.read = read;
    }

    /** How an element without a result gets one. */
    enum Way {
        /** By the store: a value, a load under a lease, or the load of another reader. */
        STORED,
        /** By a load that is not stored, and that readers of this JVM share. */
        UNSTORED,
        /** By a load that is neither stored nor shared. */
        ALONE
    }

    private record Held<V>(SingleFlight flights, InFlightLoad<V> load) {}

    /** A load of another reader. */
    record Awaited<V>(SingleFlight flights, InFlightLoad<V> load) {}

    K id() {
        return id;
    }

    CacheKey<V> key() {
        return read.key();
    }

    ReadRequest<V> read() {
        return read;
    }

    void become(ReadRequest<V> other) {
        this.read = other;
    }

    /** The request as it arrived, outside every scope. */
    ReadRequest<V> arrived() {
        return arrived;
    }

    /** The entry as the plain read found it. */
    Snapshot seen() {
        return seen;
    }

    void see(Snapshot snapshot) {
        this.seen = snapshot;
    }

    Way way() {
        return way;
    }

    /** Turns away from loads that are stored. */
    void go(Way other) {
        this.way = other;
    }

    boolean isOpen() {
        return result == null && away == null;
    }

    /** Null while there is none. */
    @Nullable LoadResult<V> result() {
        return result;
    }

    /** Sets the result, and gives it to the readers that wait for a held load. */
    void done(LoadResult<V> loaded) {
        this.result = loaded;
        complete(loaded);
    }

    /** Reopens the element, at most once. If no newer result arrives, the superseded one is used. */
    void repeat() {
        if (superseded == null) {
            superseded = result;
            result = null;
            lease = null;
        }
    }

    /** Whether the element has a result that may be used, and is to get a newer one. */
    boolean isRepeated() {
        return superseded != null;
    }

    /** Takes the superseded result. */
    void settle() {
        done(requireNonNull(superseded));
    }

    /** Keeps a value that is returned if the load of a newer one fails. */
    void keep(LoadResult<V> value) {
        this.older = value;
    }

    @Nullable LoadResult<V> older() {
        return older;
    }

    /** Why the store cannot serve it; null if it can. */
    @Nullable StoreUnavailableException away() {
        return away;
    }

    /** The store is away: another reader of the element learns it too. */
    void isAway(StoreUnavailableException failure, long now) {
        this.awaited = null;
        complete(new LoadResult.Failed<>(failure, now));
        if (superseded != null) {
            result = superseded;
        } else {
            away = failure;
        }
    }

    /** Forgets that the store was away: another way is tried. */
    void returnFrom(Way other) {
        this.away = null;
        this.way = other;
    }

    void hold(SingleFlight flights, InFlightLoad<V> load) {
        held.add(new Held<>(flights, load));
    }

    boolean isHeld() {
        return !held.isEmpty();
    }

    /** Lets the readers that wait for a held load try again. */
    void letGo() {
        complete(new LoadResult.Unshared<>(null));
    }

    private void complete(LoadResult<V> loaded) {
        held.forEach(one -> one.flights.complete(key(), one.load, loaded));
        held.clear();
    }

    /** The load lease; null without one. */
    @Nullable LoadLease lease() {
        return lease;
    }

    void give(@Nullable LoadLease given) {
        this.lease = given;
    }

    void await(SingleFlight flights, InFlightLoad<V> load) {
        this.awaited = new Awaited<>(flights, load);
    }

    boolean isWaiting() {
        return awaited != null;
    }

    /** The load to wait for, once. */
    Awaited<V> takeAwaited() {
        Awaited<V> taken = requireNonNull(awaited);
        awaited = null;
        return taken;
    }

    /** Whether it was not counted as a hit or a miss before. */
    boolean isFirstCount() {
        boolean first = !counted;
        counted = true;
        return first;
    }

    /** Whether it is a miss, unless it gets an expired value. */
    boolean isMissDeferred() {
        return missDeferred;
    }

    void deferMiss(boolean value) {
        missDeferred = value;
    }

    /** True on the first call only. Later tries follow a wait for an update, or the removal of an unreadable value. */
    boolean isFirstTry() {
        boolean first = !tried;
        tried = true;
        return first;
    }

    /** Whether its time to wait for loads that are not stored is over. */
    boolean isOverdue() {
        return overdue;
    }

    void markOverdue() {
        overdue = true;
    }
}
