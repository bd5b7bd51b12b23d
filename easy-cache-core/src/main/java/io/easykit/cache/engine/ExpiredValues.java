package io.easykit.cache.engine;

import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds values for readers whose load has failed. Reads the store at that moment, and checks this node's own updates: a value
 * that was invalidated meanwhile is not found.
 */
final class ExpiredValues {

    private static final Logger log = LoggerFactory.getLogger(ExpiredValues.class);

    private final StoredEntries entries;
    private final Freshness freshness;

    ExpiredValues(StoredEntries entries, Freshness freshness) {
        this.entries = entries;
        this.freshness = freshness;
    }

    /** Whether a reader may have an expired value: an ordinary one, not inside a load, of a key that this node has not updated. */
    static boolean areUsedBy(ReadRequest<?> read) {
        return read.options().staleOnError() != null && read.notOlderThan() == null;
    }

    /**
     * A value that was found.
     *
     * @param expired false if another node has stored a new one meanwhile
     */
    record Found<V>(@Nullable V value, boolean expired) {}

    /** Whether there is one for this reader, readable or not. */
    boolean areThereFor(ReadRequest<?> read) {
        try {
            return mayHave(read) && entries.peekExpired(read.key()) != null;
        } catch (StoreUnavailableException away) {
            log.debug("Cannot look for an expired value of {}", read.key(), away);
            return false;
        }
    }

    /** Null if there is none for this reader. */
    <V> @Nullable Found<V> find(ReadRequest<V> read) {
        try {
            return mayHave(read) ? decoded(read, entries.peekExpired(read.key())) : null;
        } catch (StoreUnavailableException away) {
            log.debug("Cannot read an expired value of {}", read.key(), away);
            return null;
        }
    }

    /** Whether no update of this node keeps the reader from it. Comes before the read of the store. */
    boolean mayHave(ReadRequest<?> read) {
        return !freshness.isUndelivered(read.key())
                && areUsedBy(freshness.requiredFor(read))
                && !entries.isBeingCleared(read.key());
    }

    <V> @Nullable Found<V> decoded(ReadRequest<V> read, @Nullable Peeked peeked) {
        Decoded<V> decoded = peeked == null ? null : entries.decode(read.key(), peeked.value());
        return decoded == null || peeked == null ? null : new Found<>(decoded.value(), peeked.expired());
    }
}
