package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.NearEntries.Entry;
import io.easykit.cache.engine.NearEntries.Stamp;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.type.ImmutableTypes;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Values of one store that are kept in this JVM for at most {@code near-ttl}, so that a hot key is not read from the store by
 * each reader. AP only.
 *
 * <h2>Why it needs no messages</h2>
 *
 * A value that enters was valid in the store at a time <em>t</em>: it lay alone in its entry, or its store was accepted.
 * <em>t</em> is the time <em>before</em> that command was sent, and the life of the value counts from <em>t</em>. So an update
 * that any node has acknowledged after <em>t</em> is missed for less than {@code near-ttl}. A value inside its stale window
 * never enters, so the two times do not add up: the worst staleness after an acknowledged update is the longer one of stale
 * window and {@code near-ttl}. While an update cannot reach the store, the store itself has the old value, and
 * {@code near-ttl} is added.
 *
 * <h2>Updates of this node</h2>
 *
 * {@link NearStore} removes the keys of an update before and after each command that it sends for them. A fill takes a
 * {@link Stamp} before its command is sent, and is dropped if the stamp has changed. So a fill that overlaps such a command is
 * dropped, and a fill that begins later reads the entry after the command. A command that failed leaves its keys undelivered: for
 * those nothing is returned and nothing is kept ({@link Freshness#allowsNear}).
 *
 * <h2>Epochs</h2>
 *
 * The level is cleared after a raised epoch became known here. A fill takes the epoch of its read, or compares that of its load,
 * after it took the stamp. So a value of an older epoch is dropped: by the epoch, or by the clearing. A recovery and each other
 * change of the availability clear the level too.
 *
 * <h2>What does not enter</h2>
 *
 * Nothing that was read or loaded inside a load, since such a value may be stored as a part of a fresh one, and nothing that
 * the store has not accepted: values of loads in a transaction, vetoed ones, rejected ones, and those whose store had no reply.
 * Inside a load nothing is returned either.
 *
 * <h2>End of life</h2>
 *
 * A value leaves before its refresh-ahead time begins in the store. So the next reader of a hot key goes to the store in time,
 * and refreshes it there. A value whose remaining life is unknown does not enter. "Nothing" has the shorter life that it has in
 * the store.
 */
final class NearLevel {

    private final NearEntries entries;
    private final Freshness freshness;
    private final Epochs epochs;
    private final ValueEnvelopes values;
    private final Ticker ticker;

    NearLevel(NearEntries entries, Freshness freshness, Epochs epochs, EngineContext engine) {
        this.entries = entries;
        this.freshness = freshness;
        this.epochs = epochs;
        this.values = engine.values();
        this.ticker = engine.ticker();
    }

    /** The value for a reader; null if it has to read the store. */
    <V> @Nullable Decoded<V> get(ReadRequest<V> read) {
        if (!isUsedBy(read)) {
            return null;
        }
        Entry entry = entries.get(read.key(), read.startedAt());
        if (entry == null) {
            return null;
        }
        // Another declaration of the cache may have kept it for longer.
        long age = read.startedAt() - entry.asOf();
        boolean current = age < read.options().nearTtl().toNanos() && freshness.allowsNear(read.key());
        return current ? decoded(read.key(), entry) : null;
    }

    @SuppressWarnings("unchecked") // the entry has the type of the key
    private <V> @Nullable Decoded<V> decoded(CacheKey<V> key, Entry entry) {
        return entry.kept() instanceof Envelope bytes ? values.decode(bytes, key) : (Decoded<V>) entry.kept();
    }

    /** The stamp for a command that is sent next; null if its value may not enter. */
    @Nullable Stamp stamp(ReadRequest<?> read) {
        if (!isUsedBy(read)) {
            return null;
        }
        Stamp stamp = entries.stamp(read.key(), ticker.nanoTime());
        return freshness.allowsNear(read.key()) ? stamp : null;
    }

    private static boolean isUsedBy(ReadRequest<?> read) {
        return !read.options().nearTtl().isZero();
    }

    /** Keeps a value that was read from the store, and was valid. */
    <V> void keepRead(ReadRequest<V> read, @Nullable Stamp stamp, Snapshot seen, Decoded<V> value) {
        Envelope bytes = seen.value();
        Duration remaining = seen.remaining();
        if (stamp != null && bytes != null && remaining != null) {
            keep(read, stamp, value.value(), bytes, remaining);
        }
    }

    /**
     * Keeps a value that the store has accepted.
     *
     * @param life as it was stored
     */
    <V> void keepStored(
            ReadRequest<V> read,
            @Nullable Stamp stamp,
            LoadLease lease,
            @Nullable V value,
            Envelope bytes,
            Duration life) {
        if (stamp != null && epochs.isCurrent(read.key(), lease.epoch())) {
            keep(read, stamp, value, bytes, life);
        }
    }

    private <V> void keep(ReadRequest<V> read, Stamp stamp, @Nullable V value, Envelope bytes, Duration remaining) {
        boolean shared = ImmutableTypes.contain(read.key().spec().type());
        Duration life = remaining.minus(ValueTtls.refreshAhead(bytes, read.options()));
        Duration nearTtl = read.options().nearTtl();
        entries.put(
                read.key(),
                shared ? new Decoded<>(value) : bytes,
                stamp,
                life.compareTo(nearTtl) < 0 ? life : nearTtl,
                ticker.nanoTime());
    }
}
