package io.easykit.cache.store;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore.Snapshot;
import java.time.Duration;
import java.util.Optional;

/**
 * A call of an {@link EntryStore} that can be sent together with others.
 *
 * @param <T> the reply
 */
public sealed interface EntryCall<T> {

    CacheKey<?> key();

    /** Makes this call alone. */
    T on(EntryStore store);

    /** {@link EntryStore#read}. */
    record Read(CacheKey<?> key, long epoch) implements EntryCall<Snapshot> {

        @Override
        public Snapshot on(EntryStore store) {
            return store.read(key, epoch);
        }
    }

    /** {@link EntryStore#fetch(CacheKey, long, boolean)}. */
    record Fetch(CacheKey<?> key, long epoch, boolean allowsStale) implements EntryCall<Fetched> {

        @Override
        public Fetched on(EntryStore store) {
            return store.fetch(key, epoch, allowsStale);
        }
    }

    /** {@link EntryStore#store}. */
    record Store(CacheKey<?> key, LoadLease lease, Envelope value, Duration ttl) implements EntryCall<Boolean> {

        @Override
        public Boolean on(EntryStore store) {
            return store.store(key, lease, value, ttl);
        }
    }

    /** {@link EntryStore#peekExpired}. */
    record PeekExpired(CacheKey<?> key, long epoch) implements EntryCall<Optional<Peeked>> {

        @Override
        public Optional<Peeked> on(EntryStore store) {
            return Optional.ofNullable(store.peekExpired(key, epoch));
        }
    }

    /** {@link EntryStore#releaseLoad}. The reply has no meaning. */
    record Release(CacheKey<?> key, LoadLease lease) implements EntryCall<Boolean> {

        @Override
        public Boolean on(EntryStore store) {
            store.releaseLoad(key, lease);
            return true;
        }
    }
}
