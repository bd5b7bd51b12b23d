package io.easykit.cache.memory;

import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoredEntry;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HexFormat;

/**
 * The right to store.
 *
 * @param token fencing token, which successive loaders share
 * @param ends end of the load lease; 0 if it was released
 */
record MemoryLease(long token, long ends) {

    static MemoryLease of(LoadLease lease) {
        ByteBuffer bytes = ByteBuffer.wrap(lease.id());
        return new MemoryLease(bytes.getLong(), bytes.getLong());
    }

    LoadLease atEpoch(long epoch) {
        byte[] id =
                ByteBuffer.allocate(2 * Long.BYTES).putLong(token).putLong(ends).array();
        return new LoadLease(id, epoch);
    }

    StoredEntry.LeasedToken shown() {
        return new StoredEntry.LeasedToken(HexFormat.of().toHexDigits(token), Instant.ofEpochMilli(ends));
    }
}
