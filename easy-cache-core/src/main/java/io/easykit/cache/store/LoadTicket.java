package io.easykit.cache.store;

/**
 * The right to store a loaded value, and the load lease. Comes with a {@link EntryStore.Fetched} and goes back with the store
 * or the release.
 */
public final class LoadTicket {

    private final byte[] token;
    private final long epoch;

    /**
     * @param token opaque to the engine; the store made it
     * @param epoch the prefix's epoch when the ticket was given
     */
    public LoadTicket(byte[] token, long epoch) {
        this.token = token;
        this.epoch = epoch;
    }

    public byte[] token() {
        return token;
    }

    public long epoch() {
        return epoch;
    }
}
