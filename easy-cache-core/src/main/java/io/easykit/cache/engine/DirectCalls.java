package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CachedValue;
import io.easykit.cache.Consistency;
import io.easykit.cache.FillTicket;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls on one entry without a loader: looks at the cached value, and fills the entry with a value that the caller loads itself.
 *
 * <p>A fill is a load in two calls, with the fencing of any other: the fetch gives the fencing token and the epoch, the store
 * is rejected if an update has removed the token, and a value under an older epoch is a miss. The caller loads in between. So
 * the ticket must come before the read of the data, which nothing can check. On a thread with a transaction or a session no
 * ticket is given and no value is stored: the data may be uncommitted, or older than the ticket. A loader runs apart from them,
 * but the code between the two calls does not.
 */
final class DirectCalls {

    private static final Logger log = LoggerFactory.getLogger(DirectCalls.class);

    private final GuardedStore store;
    private final StoredEntries entries;
    private final Epochs epochs;
    private final Freshness freshness;
    private final LocalEntries local;
    private final ValueEnvelopes values;
    private final Transactions transactions;
    private final Ticker ticker;

    DirectCalls(
            GuardedStore store,
            StoredEntries entries,
            Epochs epochs,
            Freshness freshness,
            LocalEntries local,
            EngineContext engine) {
        this.store = store;
        this.entries = entries;
        this.epochs = epochs;
        this.freshness = freshness;
        this.local = local;
        this.values = engine.values();
        this.transactions = engine.transactions();
        this.ticker = engine.ticker();
    }

    /** Null if nothing is cached that a reader could have. */
    <V> @Nullable CachedValue<V> peek(CacheKey<V> key) {
        try {
            if (epochs.isClearing(key) || freshness.isUndelivered(key)) {
                return null;
            }
            Peeked peeked = store.peek(key, epochs::of, allowsStale(key));
            if (peeked == null) {
                return null;
            }
            Decoded<V> decoded = entries.decode(key, peeked.value());
            return decoded == null ? null : new CachedValue<>(decoded.value(), peeked.remaining(), peeked.stale());
        } catch (StoreUnavailableException away) {
            log.debug("Looking at {} without Redis", key, away);
            return peekLocally(key);
        }
    }

    private boolean allowsStale(CacheKey<?> key) {
        return freshness.requiredFor(read(key)).allowsStale();
    }

    private <V> ReadRequest<V> read(CacheKey<V> key) {
        return new ReadRequest<>(key, () -> null, any -> true, ticker.nanoTime());
    }

    private <V> @Nullable CachedValue<V> peekLocally(CacheKey<V> key) {
        // A CP cache may have the keys of an AP cache.
        boolean allowed = key.spec().options().consistency() == Consistency.AP && freshness.allowsLocalLevel();
        Decoded<V> kept = allowed ? local.get(key) : null;
        return kept == null ? null : new CachedValue<>(kept.value(), null, false);
    }

    /** Null if nothing may be stored now, if another reader loads, or if there is a value. */
    <V> @Nullable FillTicket<V> startFill(CacheKey<V> key) {
        if (isAttached()) {
            return null;
        }
        try {
            if (epochs.isClearing(key) || freshness.isUndelivered(key)) {
                return null;
            }
            Fetched fetched = fetch(key);
            if (fetched instanceof Fetched.Success cached && entries.decode(key, cached.value()) == null) {
                // The unreadable value is removed by now.
                fetched = fetch(key);
            }
            return fetched instanceof Fetched.Leased leased ? new Ticket<>(key, leased.lease()) : null;
        } catch (StoreUnavailableException away) {
            log.debug("{} cannot be filled without Redis", key, away);
            return null;
        }
    }

    private Fetched fetch(CacheKey<?> key) {
        return store.fetch(key, epochs::of, false);
    }

    /** Whether the caller may see uncommitted or older data: Spring has bound a transaction, a session or anything else. */
    private boolean isAttached() {
        if (transactions.isActive() || transactions.isEndHidden() || transactions.lateCommit() != null) {
            return true;
        }
        try (LoadScope scope = transactions.openLoadScope()) {
            return scope != LoadScope.DIRECT;
        }
    }

    private final class Ticket<V> implements FillTicket<V> {

        private final CacheKey<V> key;
        private final LoadLease lease;
        private final AtomicBoolean used = new AtomicBoolean();

        private Ticket(CacheKey<V> key, LoadLease lease) {
            this.key = key;
            this.lease = lease;
        }

        @Override
        public CacheKey<V> key() {
            return key;
        }

        @Override
        public boolean tryFill(@Nullable V value) {
            if (used.getAndSet(true)) {
                return false;
            }
            boolean stored = false;
            try {
                stored = store(value);
            } catch (StoreUnavailableException away) {
                log.debug("{} could not be filled", key, away);
            } finally {
                if (!stored) {
                    release();
                }
            }
            return stored;
        }

        private boolean store(@Nullable V value) {
            Envelope bytes = isAttached() ? null : encoded(value);
            return bytes != null
                    && epochs.isCurrent(key, lease.epoch())
                    && !freshness.isUndelivered(key)
                    && store.store(
                            key, lease, bytes, ValueTtls.ttl(bytes, key.spec().options(), ticker.random()));
        }

        /** Null if the value may not be stored. */
        private @Nullable Envelope encoded(@Nullable V value) {
            Duration ttl = values.ownTtl(value, key);
            Envelope bytes = ttl != null && ttl.isZero() ? null : values.encode(value, key);
            return bytes == null || ttl == null ? bytes : bytes.withTtl(ttl);
        }

        @Override
        public void close() {
            if (!used.getAndSet(true)) {
                release();
            }
        }

        private void release() {
            try {
                store.releaseLoad(key, lease);
            } catch (StoreUnavailableException away) {
                log.debug("The load lease of {} ends by itself", key, away);
            }
        }
    }
}
