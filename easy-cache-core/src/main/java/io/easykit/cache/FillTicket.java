package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * The right to store one value, of a caller that loads it itself. Comes from {@link EasyCache#startFill}. Ends by itself: an
 * update of the entry takes it away, and so does the time limit of a load (two minutes after its load lease).
 *
 * @param <V> the value
 */
public interface FillTicket<V> extends AutoCloseable {

    CacheKey<V> key();

    /**
     * Stores a value, unless the entry was updated since the ticket was given. A ticket can be used once.
     *
     * @param value null for "nothing"
     * @return whether it is stored
     */
    boolean tryFill(@Nullable V value);

    /** Returns the right if nothing was stored, so that the next reader loads at once. Without effect after that. */
    @Override
    void close();
}
