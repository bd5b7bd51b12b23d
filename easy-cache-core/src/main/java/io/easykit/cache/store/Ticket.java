package io.easykit.cache.store;

/**
 * The right to store what is loaded, and the election to load it. Comes with a {@link EntryStore.Fetched} and goes back
 * with the store or the release.
 */
public final class Ticket {

    private final byte[] text;
    private final long epoch;

    /**
     * @param text the store's own words
     * @param epoch the prefix's epoch when the ticket was given
     */
    public Ticket(byte[] text, long epoch) {
        this.text = text;
        this.epoch = epoch;
    }

    public byte[] text() {
        return text;
    }

    public long epoch() {
        return epoch;
    }
}
