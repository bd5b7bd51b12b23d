package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.Borrowed;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.QueueStore;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** The limits of a shard: a bucket of permits, and places in flight. */
final class Flow {

    /** Permits of this time are waited for together. */
    private static final long GATHERED = TimeUnit.MILLISECONDS.toMicros(5);

    private static final long PERMIT = 1_000_000;

    private @Nullable Kept kept;

    /**
     * What a claim leaves to the next ones.
     *
     * @param permits   in millionths, at that time
     * @param at        in microseconds since the epoch
     * @param isAwaited whether a claim has met due messages and no place since
     * @param share     the limits of that claim
     */
    private record Kept(long permits, long at, boolean isAwaited, FlowShare share) {

        /** Permits at another time, of which no more are kept than the burst. */
        long permits(FlowShare limits, long micros) {
            long most = limits.burst() * PERMIT;
            if (limits.stepMicros() == 0) {
                return Math.min(most, permits);
            }
            double more = (double) Math.max(0, micros - at) * PERMIT / limits.stepMicros(); // as Lua calculates
            return Math.min(most, Math.min(most, permits) + (long) Math.min((double) most, more));
        }
    }

    /** The limits of one claim, at one time. */
    final class Limits {

        private final IntSupplier inFlight;
        private final FlowShare share;
        private final MemoryClock clock;
        private Kept now;
        private final boolean hasSteppedBack;
        private final int borrowed;

        Limits(IntSupplier inFlight, FlowShare share, Borrowed borrowed, MemoryClock clock) {
            this.inFlight = inFlight;
            this.share = share;
            this.clock = clock;
            this.borrowed = borrowed.isValid(clock.now()) ? borrowed.permits() : 0;
            long micros = clock.micros();
            Kept last = kept != null ? kept : new Kept(share.burst() * PERMIT, micros, false, share);
            this.hasSteppedBack = last.at() > micros;
            this.now = new Kept(last.permits(), Math.min(last.at(), micros), last.isAwaited(), share);
        }

        /** How many messages may be handed out. */
        int most() {
            return (int) Math.max(0, Math.min(QueueStore.MAX_BATCH, Math.min(permits() + borrowed, places())));
        }

        private long permits() {
            return share.stepMicros() == 0 ? QueueStore.MAX_BATCH : now.permits(share, clock.micros()) / PERMIT;
        }

        private long places() {
            return share.places() == 0 ? QueueStore.MAX_BATCH : share.places() - inFlight.getAsInt();
        }

        boolean hasPlace() {
            return places() > 0;
        }

        boolean hasPermit() {
            return permits() > 0;
        }

        /** Uses the permits of messages that begin, those that are borrowed first. */
        void begin(int messages) {
            use(Math.max(0, messages - borrowed));
        }

        /** Uses permits, or gives them back if the number is negative. */
        void use(int messages) {
            long micros = clock.micros();
            if (share.stepMicros() == 0) {
                now = new Kept(Math.min(now.permits(), share.burst() * PERMIT), now.at(), now.isAwaited(), share);
            } else {
                long left = now.permits(share, micros) - messages * PERMIT;
                now = new Kept(Math.max(0, Math.min(share.burst() * PERMIT, left)), micros, now.isAwaited(), share);
            }
            kept = now;
        }

        /** Milliseconds since the epoch. */
        long nextPermits() {
            long some = Math.max(1, Math.min(share.burst(), GATHERED / share.stepMicros()));
            double missing = some * PERMIT - (double) Math.min(now.permits(), share.burst() * PERMIT);
            double wait = Math.ceil(missing * share.stepMicros() / PERMIT);
            return (long) Math.ceil((now.at() + wait) / 1000);
        }

        /** As the script for lending calculates: no time that has passed. */
        long nextPermitsFromNow() {
            long micros = clock.micros();
            long some = Math.max(1, Math.min(share.burst(), GATHERED / share.stepMicros()));
            double missing = Math.max(0, some * PERMIT - (double) now.permits(share, micros));
            return (long) Math.ceil((micros + Math.ceil(missing * share.stepMicros() / PERMIT)) / 1000);
        }

        /**
         * Notes whether a consumer waits for a place.
         *
         * @return whether one waited, and now there is a place
         */
        boolean isAnswered(boolean isLeft) {
            boolean wasAwaited = now.isAwaited();
            boolean changes = wasAwaited == hasPlace() && (hasPlace() || isLeft);
            if (changes) {
                now = new Kept(now.permits(), now.at(), !hasPlace(), share);
            }
            if (changes || hasSteppedBack) {
                use(0);
            }
            return wasAwaited && hasPlace();
        }
    }

    ShardStats.@Nullable Flow shown(MemoryClock clock) {
        Kept last = kept;
        if (last == null) {
            return null;
        }
        FlowShare share = last.share();
        return new ShardStats.Flow(
                Duration.ofNanos(share.stepMicros() * 1000),
                share.burst(),
                (int) (last.permits(share, clock.micros()) / PERMIT),
                share.places(),
                share.stepMicros() == 0
                        ? null
                        : Instant.EPOCH.plus(Math.min(last.at(), clock.micros()), ChronoUnit.MICROS));
    }

    /** As the store in Redis keeps it, or null if it keeps nothing. */
    @Nullable String text() {
        Kept last = kept;
        return last == null
                ? null
                : last.permits() + ":" + last.at() + ":" + (last.isAwaited() ? 1 : 0) + ":"
                        + last.share().stepMicros() + ":" + last.share().burst() + ":"
                        + last.share().places();
    }
}
