package io.easykit.cache.memory;

import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.StoredEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One entry: the fields of its hash in Redis, and what the scripts do with them. All times are in milliseconds of the store's
 * clock.
 */
final class MemoryEntry {

    /** How many values of other versions of the type stay beside a stored one. */
    private static final int MOST_OTHERS = 3;

    /** By the fingerprint of their type, in the order in which they were stored. */
    private final Map<String, Value> values = new LinkedHashMap<>();

    /** The prepared updates by their tokens, with the ends of their leases. */
    private final Map<String, Long> updates = new TreeMap<>();

    private @Nullable MemoryLease lease;
    private @Nullable Long staleUntil;
    private @Nullable Long updatesUntil;
    private @Nullable Long keptUntil;

    /** End of the entry with all of its fields. Zero for an entry that has none yet. */
    private long deadline;

    record Value(Envelope envelope, long epoch, long expires) {}

    MemoryEntry() {}

    /** A copy. */
    MemoryEntry(MemoryEntry other) {
        values.putAll(other.values);
        updates.putAll(other.updates);
        lease = other.lease;
        staleUntil = other.staleUntil;
        updatesUntil = other.updatesUntil;
        keptUntil = other.keptUntil;
        deadline = other.deadline;
    }

    boolean isEmpty() {
        return values.isEmpty()
                && updates.isEmpty()
                && lease == null
                && staleUntil == null
                && updatesUntil == null
                && keptUntil == null;
    }

    boolean isOver(long now) {
        return deadline <= now;
    }

    Map<String, Envelope> envelopes() {
        Map<String, Envelope> envelopes = new LinkedHashMap<>();
        values.forEach((fingerprint, value) -> envelopes.put(fingerprint, value.envelope));
        return envelopes;
    }

    /** The value of a reader; null if there is none, or it is of an older epoch. */
    @Nullable Value value(String fingerprint, long epoch) {
        Value value = values.get(fingerprint);
        return value == null || value.epoch < epoch ? null : value;
    }

    @Nullable MemoryLease lease() {
        return lease;
    }

    @Nullable Long staleUntil() {
        return staleUntil;
    }

    /**
     * Whether the stale window is longer than any one: it began before the clock was set back, and counts as over. While an update is
     * prepared, the window ends with its lease.
     */
    boolean isWindowTooLong(long window, long now) {
        return staleUntil != null && !isUpdated(now) && staleUntil - now > window;
    }

    /** Drops the values in a window that is too long. Otherwise they could be returned in its last part. */
    void endWindow() {
        values.clear();
        staleUntil = null;
    }

    boolean isUpdated(long now) {
        return updatesUntil != null && now < updatesUntil;
    }

    /** @param atLeast how long the entry has to live on */
    void grant(MemoryLease granted, long atLeast, long now) {
        lease = granted;
        deadline = Math.max(deadline, now + atLeast);
    }

    Snapshot snapshot(String fingerprint, long epoch, long now) {
        boolean invalidated = staleUntil != null;
        boolean loading = lease != null && lease.ends() > 0;
        boolean updating = updatesUntil != null || !updates.isEmpty();
        Value value = value(fingerprint, epoch);
        if (value == null) {
            return new Snapshot(null, false, false, invalidated, loading, updating, null);
        }
        boolean over = keptUntil != null && now >= value.expires;
        boolean fresh = lease == null && !invalidated && !updating && !over;
        return new Snapshot(
                value.envelope,
                fresh,
                over,
                invalidated,
                loading,
                updating,
                fresh ? Duration.ofMillis(value.expires - now) : null);
    }

    /**
     * Returns what a reader may have.
     *
     * @param window the stale window; 0 if the reader accepts no stale value
     * @param past for how long after its end an expired value that was never invalidated may be returned
     */
    @Nullable Peeked peek(String fingerprint, long epoch, long window, long past, long now) {
        Value value = value(fingerprint, epoch);
        if (value == null) {
            return null;
        }
        long ends = value.expires;
        if (staleUntil != null) {
            ends = window > 0 && !isWindowTooLong(window, now) ? Math.min(ends, staleUntil) : 0;
        }
        if (now < ends) {
            return new Peeked(value.envelope, Duration.ofMillis(ends - now), staleUntil != null, false);
        }
        long left = value.expires + past - now;
        return staleUntil != null || updatesUntil != null || left <= 0
                ? null
                : new Peeked(value.envelope, Duration.ofMillis(left), false, true);
    }

    /** @param outlives how long the entry stays after the first of its values has expired */
    boolean store(String fingerprint, LoadLease by, Envelope envelope, long ttl, long outlives, long now) {
        if (lease == null || MemoryLease.of(by).token() != lease.token()) {
            return false;
        }
        long expires = now + ttl;
        Map<String, Value> others = new LinkedHashMap<>();
        if (staleUntil == null) {
            for (Map.Entry<String, Value> other : values.entrySet()) {
                // The key expires with its first value, so one that ends soon would take the new value along.
                boolean stays = !other.getKey().equals(fingerprint)
                        && 2 * (other.getValue().expires - now) > ttl
                        && others.size() < MOST_OTHERS;
                if (stays) {
                    others.put(other.getKey(), other.getValue());
                    expires = Math.min(expires, other.getValue().expires);
                }
            }
        }
        values.clear();
        values.put(fingerprint, new Value(envelope, by.epoch(), now + ttl));
        values.putAll(others);
        lease = null;
        staleUntil = null;
        updatesUntil = null;
        updates.clear();
        keptUntil = outlives > 0 ? Long.valueOf(expires + outlives) : null;
        deadline = expires + outlives;
        return true;
    }

    boolean release(LoadLease released) {
        if (lease == null || !lease.equals(MemoryLease.of(released))) {
            return false;
        }
        lease = new MemoryLease(lease.token(), 0);
        return true;
    }

    boolean prepare(String token, long length, long window, long now) {
        boolean dropsValues = window == 0 || isWindowTooLong(window, now);
        long ends = now + length;
        updates.put(token, ends);
        updatesUntil = updatesUntil == null ? ends : Long.valueOf(Math.max(ends, updatesUntil));
        deadline = Math.max(deadline, ends);
        lease = null;
        if (dropsValues) {
            dropValues();
        } else if (!values.isEmpty()) {
            staleUntil = staleUntil == null ? ends : Long.valueOf(Math.min(ends, staleUntil));
        }
        return true;
    }

    /** Ends an update. Returns whether an old value stays for the window. */
    boolean invalidate(String token, long window, long now) {
        boolean keepsValue = !values.isEmpty() && window > 0 && !isWindowTooLong(window, now);
        lease = null;
        updates.remove(token);
        long stale = staleUntil == null ? now + window : Math.min(now + window, staleUntil);
        if (keepsValue) {
            keptUntil = null;
            staleUntil = stale;
        } else {
            dropValues();
        }
        if (updatesUntil != null) {
            updates.values().removeIf(ends -> ends <= now);
            updatesUntil = updates.values().stream().max(Long::compare).orElse(null);
        }
        if (keepsValue) {
            long last = Math.max(stale, updatesUntil == null ? 0 : updatesUntil);
            deadline = Math.min(deadline, Math.max(last, now + 1));
        }
        return keepsValue;
    }

    private void dropValues() {
        values.clear();
        staleUntil = null;
        keptUntil = null;
    }

    boolean removeUnreadable(String fingerprint, Envelope unreadable) {
        Value value = values.get(fingerprint);
        if (value == null || !Arrays.equals(value.envelope.toBytes(), unreadable.toBytes())) {
            return false;
        }
        values.remove(fingerprint);
        if (values.isEmpty()) {
            dropValues();
            lease = null;
        }
        return true;
    }

    StoredEntry inspect(long now) {
        List<StoredEntry.Value> shown = new ArrayList<>();
        values.forEach((fingerprint, value) -> shown.add(new StoredEntry.Value(
                fingerprint,
                value.envelope.toBytes().length + 10,
                Instant.ofEpochMilli(value.expires),
                value.epoch,
                value.envelope.kind(),
                value.envelope.ttl())));
        List<StoredEntry.Update> prepared = new ArrayList<>();
        updates.forEach((token, ends) -> prepared.add(new StoredEntry.Update(token, Instant.ofEpochMilli(ends))));
        return new StoredEntry(
                Instant.ofEpochMilli(now),
                true,
                false,
                Duration.ofMillis(deadline - now),
                shown,
                lease == null ? null : lease.shown(),
                instant(staleUntil),
                instant(updatesUntil),
                prepared,
                instant(keptUntil));
    }

    private static @Nullable Instant instant(@Nullable Long millis) {
        return millis == null ? null : Instant.ofEpochMilli(millis);
    }
}
