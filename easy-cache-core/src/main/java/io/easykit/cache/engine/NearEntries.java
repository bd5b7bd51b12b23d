package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.LocalLevel;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The entries of the {@link NearLevel}, fenced like the store: a value that was read before an update of this node is not put
 * in after it.
 *
 * <p>A reader takes a {@link Stamp} before it sends its command. Updates of this node change the stamp of their key, and of
 * some others that share the slot, which costs those one fill. Clearing changes all stamps. An entry is returned only while
 * its stamp holds, so one that is put in too late is never seen.
 */
final class NearEntries {

    private static final int SLOTS = 1 << 12;

    private final LocalLevel level;
    private final AtomicLongArray updates = new AtomicLongArray(SLOTS);
    private final AtomicLong clearings = new AtomicLong();

    NearEntries(LocalLevel level) {
        this.level = level;
    }

    /**
     * Taken before a command is sent.
     *
     * @param sentAt ticker time before the command was sent
     */
    record Stamp(long updates, long clearings, long sentAt) {}

    /**
     * A value of the near level.
     *
     * @param kept the decoded value if it is immutable, else its bytes
     * @param type of the value: two caches of one prefix may have different ones
     * @param until ticker time from which it is not returned
     * @param stamp taken before the command that brought the value
     */
    record Entry(Object kept, Type type, long until, Stamp stamp) {

        /** Ticker time at which the value was valid in the store. */
        long asOf() {
            return stamp.sentAt;
        }
    }

    /** The entry of a key; null if there is none for readers that come now. */
    @Nullable Entry get(CacheKey<?> key, long now) {
        if (!(level.get(key) instanceof Entry entry)
                || entry.until - now <= 0
                || isOld(key, entry.stamp)
                || !entry.type.equals(key.spec().type())) {
            return null;
        }
        return entry;
    }

    Stamp stamp(CacheKey<?> key, long now) {
        return new Stamp(updates.get(slot(key)), clearings.get(), now);
    }

    /**
     * Keeps a value, unless its key was updated here or all was cleared since the stamp was taken.
     *
     * @param life from the time of the stamp on
     */
    void put(CacheKey<?> key, Object kept, Stamp stamp, Duration life, long now) {
        long until = stamp.sentAt + life.toNanos();
        if (until - now <= 0 || isOld(key, stamp)) {
            return;
        }
        level.put(key, new Entry(kept, key.spec().type(), until, stamp), Duration.ofNanos(until - now));
        if (isOld(key, stamp)) {
            level.remove(key);
        }
    }

    private boolean isOld(CacheKey<?> key, Stamp stamp) {
        return updates.get(slot(key)) != stamp.updates || clearings.get() != stamp.clearings;
    }

    void invalidate(Collection<? extends CacheKey<?>> keys) {
        for (CacheKey<?> key : keys) {
            updates.incrementAndGet(slot(key));
            level.remove(key);
        }
    }

    void clear() {
        clearings.incrementAndGet();
        level.clear();
    }

    private static int slot(CacheKey<?> key) {
        int hash = key.hashCode();
        return (hash ^ hash >>> 16) & SLOTS - 1;
    }
}
