package io.easykit.cache.memory;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.memory.MemoryEntry.Value;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Envelope.Kind;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Decides how one reader may use an entry, and gives it the load lease where no other reader loads. */
final class MemoryFetch {

    /** How long a fencing token outlives its load lease: a load that takes longer is not stored. */
    private static final long KEEP_TOKEN = TimeUnit.MINUTES.toMillis(2);

    private static final long LONGEST_LEASE = TimeUnit.DAYS.toMillis(1);

    private final CacheSpec<?> spec;
    private final long epoch;
    private final long now;
    private final LongSupplier tokens;
    private final long loadLease;

    /** Stale window in milliseconds; 0 if the reader accepts no stale value. */
    private final long window;

    /** @param tokens makes fencing tokens */
    MemoryFetch(CacheSpec<?> spec, long epoch, boolean allowsStale, long now, LongSupplier tokens) {
        this.spec = spec;
        this.epoch = epoch;
        this.now = now;
        this.tokens = tokens;
        this.loadLease = spec.options().loadLease().toMillis();
        this.window = allowsStale ? spec.options().effectiveStaleWindow().toMillis() : 0;
    }

    Fetched on(MemoryEntry entry) {
        Value found = entry.value(spec.fingerprint(), epoch);
        Value value = found != null && now < found.expires() ? found : null;
        Long staleUntil = entry.staleUntil();
        boolean loading = now < leaseEnds(entry.lease());
        if (value != null && staleUntil == null) {
            return value.expires() - now <= refreshAhead(value.envelope()) && !loading
                    ? new Fetched.SuccessNeedQuery(value.envelope(), false, grant(entry))
                    : new Fetched.Success(value.envelope(), false);
        }
        boolean isTooLong = window > 0 && entry.isWindowTooLong(window, now);
        Value stale = window > 0 && staleUntil != null && now < staleUntil && !isTooLong ? value : null;
        if (entry.isUpdated(now)) {
            return stale == null ? new Fetched.NeedQueryNoStore() : new Fetched.Success(stale.envelope(), true);
        }
        if (isTooLong) {
            entry.endWindow();
        }
        if (loading) {
            return stale == null
                    ? new Fetched.NeedWait(Duration.ofMillis(leaseEnds(entry.lease()) - now))
                    : new Fetched.Success(stale.envelope(), true);
        }
        LoadLease mine = grant(entry);
        return stale == null ? new Fetched.NeedQuery(mine) : new Fetched.SuccessNeedQuery(stale.envelope(), true, mine);
    }

    /** In milliseconds; at most a tenth of a TTL that the value itself decided. */
    private double refreshAhead(Envelope value) {
        if (value.kind() == Kind.NULL || value.kind() == Kind.EMPTY_OPTIONAL) {
            return (double) spec.options().effectiveNullRefreshAhead().toMillis();
        }
        long ahead = spec.options().effectiveRefreshAhead().toMillis();
        Duration own = value.ttl();
        return own == null ? (double) ahead : Math.min((double) ahead, (double) own.toMillis() / 10);
    }

    private long leaseEnds(@Nullable MemoryLease lease) {
        long ends = lease == null ? 0 : lease.ends();
        return ends - now <= Math.max(loadLease, LONGEST_LEASE) ? ends : 0;
    }

    private LoadLease grant(MemoryEntry entry) {
        MemoryLease before = entry.lease();
        MemoryLease granted = new MemoryLease(before == null ? tokens.getAsLong() : before.token(), now + loadLease);
        entry.grant(granted, loadLease + KEEP_TOKEN, now);
        return granted.atEpoch(epoch);
    }
}
