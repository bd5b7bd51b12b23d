package io.easykit.cache.store;

/**
 * The load lease: for a while its holder is the only loader of a key. It carries the fencing token, without which no value is
 * stored. {@link Fetched.Leased} grants it, and a store or a release ends it.
 */
public final class LoadLease {

    private final byte[] id;
    private final long epoch;

    /**
     * @param id made by the store, and opaque to the engine: the fencing token, and which lease of this token
     * @param epoch the prefix's epoch when the lease was given
     */
    public LoadLease(byte[] id, long epoch) {
        this.id = id;
        this.epoch = epoch;
    }

    public byte[] id() {
        return id;
    }

    public long epoch() {
        return epoch;
    }
}
