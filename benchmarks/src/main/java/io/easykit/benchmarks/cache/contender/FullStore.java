package io.easykit.benchmarks.cache.contender;

import io.easykit.cache.CacheKey;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.PrefixEpochs;
import io.easykit.cache.store.StoredEntry;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;

/** Returns a fresh value for every key immediately. Only plain reads are measured. */
final class FullStore implements EntryStore {

    /** Format version 1, kind "value", no payload. */
    private static final Envelope ENVELOPE = Envelope.wrap(new byte[] {1, 0}, 0);

    private static final Snapshot HIT = new Snapshot(ENVELOPE, true, false, false, false, false, Duration.ofMinutes(9));

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        return HIT;
    }

    @Override
    public StoredEntry inspect(CacheKey<?> key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Peeked peekExpired(CacheKey<?> key, long epoch) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration life) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void releaseLoad(CacheKey<?> key, LoadLease lease) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public PrefixEpochs epochs(int hash) {
        return new PrefixEpochs(Map.of(), Set.of(), 0);
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean endExpiredClears(int hash, Map<String, Long> known) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Duration takeWorkLease(String name, String owner, Duration duration, boolean partial) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void probe(Partitions partitions, int partition) {}

    /** Decodes everything to the same product. */
    record OneProduct(Product product) implements ValueCodec {

        @Override
        public byte[] encode(Object value, Type type) {
            return new byte[0];
        }

        @Override
        public Object decode(byte[] bytes, Type type) {
            return product;
        }
    }
}
