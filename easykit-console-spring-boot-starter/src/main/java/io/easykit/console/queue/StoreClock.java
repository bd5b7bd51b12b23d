package io.easykit.console.queue;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The clock of Redis, as the latest reading showed it. */
final class StoreClock {

    private volatile @Nullable Long offset;

    /** Takes the time of a reply that has just arrived. */
    void set(Instant now) {
        if (now.isAfter(Instant.EPOCH)) {
            offset = now.toEpochMilli() - System.currentTimeMillis();
        }
    }

    /** Milliseconds since 1970, or null before the first reading. */
    @Nullable Long millis() {
        Long known = offset;
        return known == null ? null : System.currentTimeMillis() + known;
    }
}
