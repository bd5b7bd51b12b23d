package io.easykit.trial;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The times at which the updates of one entry returned. One thread updates an entry, so its versions are ordered.
 *
 * <p>An update that threw has no time, because it guarantees nothing.
 */
final class Versions {

    private static final long NONE = Long.MIN_VALUE;

    private final AtomicLongArray returnedAt = new AtomicLongArray(20_000);
    private final int writer;
    private volatile int latest;

    /** @param writer node that updates the entry */
    Versions(int writer) {
        this.writer = writer;
        for (int i = 0; i < returnedAt.length(); i++) {
            returnedAt.setPlain(i, NONE);
        }
    }

    int writer() {
        return writer;
    }

    void returned(long version, long nanos) {
        returnedAt.set((int) version, nanos);
        latest = (int) version;
    }

    /**
     * Returns the time at which the first update returned that a read of this version should have seen.
     *
     * @param readBegan nano time
     * @return nano time, or the time of the read if it was not stale
     */
    long overtakenAt(long version, long readBegan) {
        int last = latest;
        for (int i = (int) version + 1; i <= last; i++) {
            long at = returnedAt.get(i);
            if (at != NONE) {
                return at - readBegan < 0 ? at : readBegan;
            }
        }
        return readBegan;
    }
}
