package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.ShardKey;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the time that an operation of many calls waits for a store that does not answer: two timeouts, whatever the number
 * of messages and shards. A shard that did not answer is not called again. Calls that fail at once, as on a closed
 * connection, cost no time, so the other shards are still tried.
 */
final class OutageTimeLimit {

    static final int MOST_WAITS = 2;

    /** A call that fails sooner has not waited for an answer. */
    static final long A_WAIT = TimeUnit.MILLISECONDS.toNanos(20);

    private final LongSupplier nanos;
    private final int mostWaits;
    private final Set<ShardKey> silent = new HashSet<>();
    private @Nullable StoreUnavailableException last;
    private int waits;

    /** @param nanos a clock that only moves forward */
    OutageTimeLimit(LongSupplier nanos) {
        this(nanos, MOST_WAITS);
    }

    /** @param mostWaits number of timeouts that the operation may wait for */
    OutageTimeLimit(LongSupplier nanos, int mostWaits) {
        this.nanos = nanos;
        this.mostWaits = mostWaits;
    }

    /**
     * Makes the call, unless the shard or the store is known not to answer.
     *
     * @throws StoreUnavailableException when the call gets no answer, or is not made
     */
    void call(ShardKey shard, Runnable call) {
        StoreUnavailableException earlier = last;
        if (earlier != null && (waits >= mostWaits || silent.contains(shard))) {
            throw StoreUnavailableException.notCarriedOut(
                    "Not sent, because an earlier call of the same operation got no answer: " + earlier.getMessage(),
                    earlier);
        }
        long begin = nanos.getAsLong();
        try {
            call.run();
        } catch (StoreUnavailableException e) {
            last = e;
            silent.add(shard);
            waits += nanos.getAsLong() - begin >= A_WAIT ? 1 : 0;
            throw e;
        }
    }
}
