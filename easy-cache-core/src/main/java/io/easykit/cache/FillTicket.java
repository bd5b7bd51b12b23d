package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * The right to store one value that the caller loads itself, from {@link EasyCache#startFill}. It ends with an update of the entry,
 * or two minutes after the load lease.
 *
 * @param <V> the value
 */
public interface FillTicket<V> extends AutoCloseable {

    CacheKey<V> key();

    /**
     * Stores a value, unless the entry was updated since the ticket was given. A ticket can be used once.
     *
     * @param value null to cache that there is no value
     * @return whether it is stored
     */
    boolean tryFill(@Nullable V value);

    /** Gives the right back if nothing was stored, so that the next reader loads at once. Further calls have no effect. */
    @Override
    void close();
}
