package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.store.Borrowed;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.Lent;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets a shard that has used up its share of the rate use permits that the other shards have saved up and do not need.
 *
 * <p><b>Protocol.</b> Permits are taken from an idle shard ({@link QueueStore#lend}), in one step there, and travel with the next claim
 * of the busy shard ({@link Borrowed}), in one step there. Each step is atomic, and the pair is not.
 *
 * <ul>
 *   <li>A node that dies in between, a lost reply to the first step, and a repetition of it lose permits. None is used twice.
 *   <li>A claim has the permits of its own request number. A repetition that is carried out again hands out the same messages and
 *       uses none. What the claim does not use is lost, and is not passed on to the next one: the claim might still be carried out
 *       late.
 *   <li>They lapse {@link Lent#LAPSE_MILLIS} after the first step began, by the clock of the shard that borrows. So a node that stands
 *       still in between adds nothing to the rate of a later time. The clocks of two masters of a cluster may differ.
 * </ul>
 *
 * <p><b>When.</b> Only if the reply to a claim reports missing permits, and the last claim of this node in the other shard has met no due
 * message. If all shards have due messages, or there is no rate, nothing is called.
 */
final class Lenders {

    private final QueueStore store;
    private final String topic;
    private final FlowLimits limits;
    private final LongSupplier nanos;

    /** Time at which a shard may have permits to lend, by its number. */
    private final AtomicLongArray next;

    private final AtomicLongArray idle;

    Lenders(QueueStore store, ListenerEndpoint endpoint, int shards, LongSupplier nanos) {
        this.store = store;
        this.topic = endpoint.topic();
        this.limits = endpoint.limits();
        this.nanos = nanos;
        this.next = new AtomicLongArray(limits.rate() == null || shards == 1 ? 0 : shards);
        this.idle = new AtomicLongArray(next.length());
    }

    /** A claim in this shard has left no due message, or has left some. */
    void note(int shard, boolean isIdle) {
        if (shard < idle.length() && idle.get(shard) != (isIdle ? 1 : 0)) {
            next.set(shard, nanos.getAsLong());
            idle.set(shard, isIdle ? 1 : 0);
        }
    }

    /** Time until another shard may have permits. */
    long untilNext(int borrower) {
        long now = nanos.getAsLong();
        long least = LoopExecutor.NEVER;
        for (int shard = 0; shard < idle.length(); shard++) {
            if (shard != borrower && idle.get(shard) == 1) {
                least = Math.min(least, Math.max(0, next.get(shard) - now));
            }
        }
        return least;
    }

    /**
     * Takes up to so many permits from the other shards. Calls no further shard when a quarter of the time has passed in which the
     * permits must be used: the claim needs the rest. Nor after one that has failed: others of its server may be silent as well, and
     * the borrower would wait for each of them.
     *
     * @param clock the store's clock in the shard that borrows
     */
    Borrowed borrow(int borrower, int most, Supplier<Instant> clock) {
        int permits = 0;
        long until = Long.MAX_VALUE;
        for (int i = 1; i < idle.length() && permits < most; i++) {
            int shard = (borrower + i) % idle.length();
            long begin = clock.get().toEpochMilli();
            if (until - begin < Lent.LAPSE_MILLIS * 3 / 4) {
                break;
            }
            if (idle.get(shard) == 1 && next.get(shard) - nanos.getAsLong() <= 0) {
                Lent lent = lent(shard, most - permits);
                if (lent == null) {
                    break;
                }
                if (lent.permits() > 0) {
                    permits += lent.permits();
                    until = Math.min(until, begin + Lent.LAPSE_MILLIS);
                }
            }
        }
        return permits == 0 ? Borrowed.NONE : new Borrowed(permits, until);
    }

    private @Nullable Lent lent(int shard, int most) {
        FlowShare share = FlowShare.of(limits, shard, idle.length());
        try {
            Lent lent = store.lend(new ShardKey(topic, shard), share, most);
            Instant further = lent.next();
            if (further == null) {
                idle.set(shard, 0);
            } else {
                long wait = Duration.between(lent.now(), further).toNanos();
                next.set(shard, nanos.getAsLong() + Math.max(0, lent.permits() == most ? 0 : wait));
            }
            return lent;
        } catch (DelayQueueException e) {
            // The consumer of that shard reports the failure. It lends again after it has claimed.
            idle.set(shard, 0);
            return null;
        }
    }
}
