package io.easykit.cache.redis;

import java.time.Duration;

/**
 * Lets the calls until the first reply wait for longer than the command timeout: a new JVM loads the classes of the driver, connects
 * and sends scripts. The time counts from the first call. So all calls of one thread together wait no longer for a server that
 * hangs, and those of several servers neither, because their first calls are made at the same time. A call that fails at once, such as
 * a refused connection, waits for nothing.
 */
final class SlowStart {

    private volatile long nanos;
    private volatile long end;
    private volatile boolean began;
    private volatile boolean over = true;

    /** Must be called before the first call. Without it there is no longer wait. */
    void allow(Duration most) {
        nanos = most.toNanos();
        over = false;
    }

    /** How long a call may wait that is made now. */
    Duration limit(Duration timeout) {
        if (over) {
            return timeout;
        }
        long left = begin() - System.nanoTime();
        if (left <= 0) {
            over = true;
        }
        return left > timeout.toNanos() ? Duration.ofNanos(left) : timeout;
    }

    private synchronized long begin() {
        if (!began) {
            end = System.nanoTime() + nanos;
            began = true;
        }
        return end;
    }

    /** Counts a reply. */
    void replied() {
        if (!over) {
            over = true;
        }
    }
}
