package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.LargeBody;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Reads frames that a claim left out because of their size, on the threads of handlers. At most {@link #AT_A_TIME} pieces are
 * read at once, so that other calls on the connection wait for some 10 ms on a line of 100 Mbit/s, and not for whole frames.
 * A piece without a reply is read again in halves.
 */
final class BodyReader {

    private static final int AT_A_TIME = 2;
    private static final int LEAST_PIECE = 1 << 12;
    private static final int MOST_FAILURES = 8;

    private final QueueInspector store;
    private final StandstillLog standstills;
    private final Semaphore permits = new Semaphore(AT_A_TIME, true);

    BodyReader(QueueInspector store, StandstillLog standstills) {
        this.store = store;
        this.standstills = standstills;
    }

    /**
     * Returns the frame of a delivery; empty if another consumer owns the message now.
     *
     * @throws StoreUnavailableException if the store does not answer several times in a row
     * @throws StoreRefusedException if the store refuses to read it
     */
    Optional<Bytes> read(ShardKey shard, InFlightMessage message) {
        Attempt attempt = new Attempt(shard, message);
        try {
            Optional<Bytes> frame = LargeBody.read(message.delivery.unread(), LargeBody.PIECE, attempt::piece);
            standstills.bodiesRead(shard);
            return frame;
        } catch (StoreRefusedException e) {
            standstills.bodiesRefused(shard, e);
            throw e;
        }
    }

    /** Reads one frame. */
    private final class Attempt {

        private final ShardKey shard;
        private final InFlightMessage message;
        private int most = LargeBody.PIECE;
        private int failures;

        Attempt(ShardKey shard, InFlightMessage message) {
            this.shard = shard;
            this.message = message;
        }

        Optional<Bytes> piece(Bytes incarnation, int from, int count) {
            while (!message.isLost()) {
                permits.acquireUninterruptibly();
                try {
                    Optional<Bytes> piece = store.read(shard, message.id(), incarnation, from, Math.min(most, count));
                    failures = 0;
                    return piece;
                } catch (StoreUnavailableException e) {
                    most = Math.max(LEAST_PIECE, most / 2);
                    if (++failures == MOST_FAILURES || Thread.currentThread().isInterrupted()) {
                        throw e;
                    }
                } finally {
                    permits.release();
                }
            }
            return Optional.empty();
        }
    }
}
