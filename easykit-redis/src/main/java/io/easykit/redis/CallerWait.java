package io.easykit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** How a caller waits for a reply on its own thread. */
enum CallerWait {

    /** An interrupt ends the wait. */
    INTERRUPTIBLE,

    /** An interrupt does not end the wait. The thread is interrupted after it. */
    UNINTERRUPTIBLE;

    /**
     * Waits for the reply.
     *
     * @param most maximum time
     * @throws InterruptedException only if interruptible
     */
    <T> T get(CompletableFuture<T> reply, Duration most)
            throws InterruptedException, ExecutionException, TimeoutException {
        long end = System.nanoTime() + most.toNanos();
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    return reply.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    if (this == INTERRUPTIBLE) {
                        throw e;
                    }
                    wasInterrupted = true;
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
