package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.LocalLevel;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The entries of the {@link NearLevel}, fenced like the store: a value that was read before an update of this node is not put
 * in after it.
 *
 * <p>A reader takes a {@link Stamp} before it sends its command. Updates of this node change the stamp of their key, see
 * {@link InvalidationStamps}. An entry is returned only while its stamp holds, so one that is put in too late is never seen.
 */
final class NearEntries {

    private final LocalLevel level;
    private final InvalidationStamps stamps = new InvalidationStamps();

    NearEntries(LocalLevel level) {
        this.level = level;
    }

    /**
     * Taken before a command is sent.
     *
     * @param count that of {@link InvalidationStamps}
     * @param sentAt ticker time before the command was sent
     */
    record Stamp(long count, long sentAt) {}

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
        return new Stamp(stamps.of(key), now);
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
    }

    private boolean isOld(CacheKey<?> key, Stamp stamp) {
        return stamps.of(key) != stamp.count;
    }

    void invalidate(Collection<? extends CacheKey<?>> keys) {
        for (CacheKey<?> key : keys) {
            stamps.change(key);
            level.remove(key);
        }
    }

    void clear() {
        stamps.changeAll();
        level.clear();
    }
}
