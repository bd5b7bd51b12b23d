package io.easykit.redis;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Records when large values passed over one connection. */
final class LineWatch extends ChannelDuplexHandler {

    /** Size in bytes. Smaller values take no noticeable time, unless the line is useless anyway. */
    static final long LARGE = 16 * 1024;

    /** A started reply of which nothing more arrives for this time no longer counts as in transit. */
    private static final long STALLED = Duration.ofSeconds(1).toNanos();

    private static final long BYTES_PER_SECOND = 256 * 1024;
    private static final Duration LEAST_ALLOWANCE = Duration.ofSeconds(1);
    private static final Duration MOST_ALLOWANCE = Duration.ofSeconds(5);

    private static final int KEPT = 32;

    /** Longer than any call waits. After this time without large values, replies are no longer inspected. */
    private static final long FORGOTTEN = Duration.ofSeconds(30).toNanos();

    private final Set<LineWatch> all;
    private final RespMeter requests = new RespMeter();
    private final RespMeter replies = new RespMeter();

    /** The latest transfers, ordered by start. Guarded by this; modified by the event loop only. */
    private final Deque<Transfer> transfers = new ArrayDeque<>();

    private @Nullable Transfer reply;

    LineWatch(Set<LineWatch> all) {
        this.all = all;
    }

    /** Returns the number of nanoseconds between two times during which a large value was in transit. */
    synchronized long busy(long from, long to) {
        long busy = 0;
        long counted = from;
        for (Transfer transfer : transfers) {
            long begin = later(transfer.began, counted);
            long end = earlier(transfer.end, to);
            if (end - begin > 0) {
                busy += end - begin;
                counted = end;
            }
        }
        return busy;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        all.add(this);
        context.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        all.remove(this);
        context.fireChannelInactive();
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes) {
            requests.pass(bytes);
            if (requests.longestText() >= LARGE) {
                requestWritten(bytes.readableBytes());
            }
        }
        var unused = context.write(message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof ByteBuf bytes) {
            replies.pass(bytes);
            if (!transfers.isEmpty() || replies.textOnItsWay() >= LARGE) {
                repliesRead();
            }
        }
        context.fireChannelRead(message);
    }

    private synchronized void requestWritten(long bytes) {
        long now = System.nanoTime();
        add(new Transfer(now, now + allowance(bytes), requests.messages()));
    }

    private synchronized void repliesRead() {
        long now = System.nanoTime();
        transfers.forEach(transfer -> transfer.answered(replies.messages(), now));
        while (!transfers.isEmpty() && now - transfers.getFirst().end > FORGOTTEN) {
            transfers.removeFirst();
        }
        if (replies.textOnItsWay() < LARGE) {
            reply = null;
        } else if (reply == null || reply.awaits <= replies.messages()) {
            reply = new Transfer(now, now + STALLED, replies.messages() + 1);
            add(reply);
        } else {
            reply.end = now + STALLED;
        }
    }

    private void add(Transfer transfer) {
        if (transfers.size() == KEPT) {
            transfers.removeFirst();
        }
        transfers.addLast(transfer);
    }

    /** Returns the maximum time that a request of this size counts as in transit. */
    private static long allowance(long bytes) {
        long needed = LEAST_ALLOWANCE.toNanos() + bytes * Duration.ofSeconds(1).toNanos() / BYTES_PER_SECOND;
        return Math.min(needed, MOST_ALLOWANCE.toNanos());
    }

    private static long later(long one, long other) {
        return one - other > 0 ? one : other;
    }

    private static long earlier(long one, long other) {
        return one - other > 0 ? other : one;
    }

    /** The time during which one large value was in transit. */
    private static final class Transfer {

        private final long began;

        /** Number of the reply that ends this transfer. */
        private final long awaits;

        private long end;

        Transfer(long began, long end, long awaits) {
            this.began = began;
            this.end = end;
            this.awaits = awaits;
        }

        void answered(long replies, long now) {
            if (replies >= awaits) {
                end = earlier(end, now);
            }
        }
    }
}
