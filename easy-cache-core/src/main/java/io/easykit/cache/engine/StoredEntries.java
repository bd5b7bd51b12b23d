package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.Peeked;
import org.jspecify.annotations.Nullable;

/** The entries of one store as readers see them: values of an older epoch are missing, and values are decoded. */
final class StoredEntries {

    private final GuardedStore store;
    private final Epochs epochs;
    private final GuardedStore.EpochOf epochOf;
    private final ValueEnvelopes values;
    private final CacheListener listener;

    StoredEntries(GuardedStore store, Epochs epochs, EngineContext engine) {
        this.store = store;
        this.epochs = epochs;
        this.epochOf = epochs::of;
        this.values = engine.values();
        this.listener = engine.listener();
    }

    /** See {@link Epochs#isClearing}. Comes before the read. */
    boolean isClearing(CacheKey<?> key) {
        return epochs.isClearing(key);
    }

    /** See {@link Epochs#isBeingCleared}. Comes before the read. */
    boolean isBeingCleared(CacheKey<?> key) {
        return epochs.isBeingCleared(key);
    }

    /** See {@link EntryStore#peekExpired}. */
    @Nullable Peeked peekExpired(CacheKey<?> key) {
        return store.peekExpired(key, epochs::strictOf);
    }

    /** See {@link EntryStore#read}. */
    Snapshot read(CacheKey<?> key) {
        return store.read(key, epochOf);
    }

    /** See {@link EntryStore#fetch(CacheKey, long, boolean)}. */
    Fetched fetch(ReadRequest<?> read) {
        return store.fetch(read.key(), epochOf, read.allowsStale());
    }

    /** The value that every reader may have; null if there is none, or it is unreadable. */
    <V> @Nullable Decoded<V> fresh(CacheKey<V> key, Snapshot seen) {
        return seen.fresh() && seen.value() != null ? decode(key, seen.value()) : null;
    }

    /** Null if the value is unreadable; then it is removed, and the load lease that came with it is released. */
    <V> @Nullable Decoded<V> decode(CacheKey<V> key, Fetched.Served fetched) {
        Decoded<V> decoded = decode(key, fetched.value());
        if (decoded == null && fetched instanceof Fetched.SuccessNeedQuery due) {
            // The lease outlives the removal if another version has a value, and this reader would wait for its end.
            store.releaseLoad(key, due.lease());
        }
        return decoded;
    }

    /** Null if the value is unreadable; then it is removed from the store. */
    <V> @Nullable Decoded<V> decode(CacheKey<V> key, Envelope envelope) {
        Decoded<V> decoded = values.decode(envelope, key);
        if (decoded == null) {
            listener.onUnreadable(key);
            store.removeUnreadable(key, envelope);
        }
        return decoded;
    }
}
