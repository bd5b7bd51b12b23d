package io.easykit.cache.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The new connections to one partition, and which of them its recent invalidations were repeated after. A new connection may lead
 * to another server, which lacks invalidations that the former one has acknowledged. So from a new connection until the end of a
 * repetition, replies may contain values that this node has invalidated ({@link SuspectReplies}).
 *
 * <p>A repetition drops values that were loaded since. So many new connections in a row share repetitions: at most
 * {@link #MOST} succeed in {@link #SPAN}.
 */
final class Repetition {

    static final int MOST = 3;
    static final Duration SPAN = Duration.ofSeconds(3);

    private final AtomicInteger connections = new AtomicInteger();
    private volatile int repeated;

    /** Ticker times at which the last ones ended. Used by one thread at a time. */
    private final Deque<Long> ends = new ArrayDeque<>();

    /** Records a new connection. Called before any reply arrives over it. */
    void connected() {
        connections.incrementAndGet();
    }

    /** Number of new connections until now. */
    int connections() {
        return connections.get();
    }

    /** Number of the last connection after which a repetition began that has succeeded. */
    int repeated() {
        return repeated;
    }

    /** What to remember when a command is sent: the numbers of the repetition and of the connection. */
    long sending() {
        return (long) repeated << 32 | Integer.toUnsignedLong(connections.get());
    }

    /**
     * Whether a connection was made since.
     *
     * @param sending {@link #sending} before the command was sent
     */
    boolean isOtherConnection(long sending) {
        return connections.get() != (int) sending;
    }

    boolean isDue() {
        return connections.get() != repeated;
    }

    /**
     * Whether a reply may come from a server that lacks invalidations.
     *
     * @param sending {@link #sending} before the command was sent
     */
    boolean isSuspect(long sending) {
        return connections.get() != (int) (sending >> 32);
    }

    /**
     * Records the end of a repetition.
     *
     * @param connection {@link #connections} before it began
     * @param keys how many invalidations it had
     * @param now ticker time
     */
    void succeeded(int connection, int keys, long now) {
        repeated = connection;
        if (keys > 0) {
            ends.addLast(now);
        }
        if (ends.size() > MOST) {
            ends.removeFirst();
        }
    }

    /** Whether a repetition may begin now. */
    boolean mayBegin(long now) {
        return ends.size() < MOST || now - ends.getFirst() >= SPAN.toNanos();
    }
}
