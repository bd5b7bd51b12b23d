package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.time.DetachedThread;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the JVM running by one thread that does nothing. All threads of the queue are daemons, so a process without a web
 * server would otherwise end when its main method returns. {@link System#exit} and signals end the JVM nevertheless.
 */
final class KeepAlive {

    static final String THREAD = "delay-queue-keep-alive";

    private @Nullable Thread thread;

    /** Starts or ends the thread. Repeated calls change nothing. */
    synchronized void set(boolean wanted) {
        if (wanted && thread == null) {
            // Always a platform thread: virtual threads are daemons.
            Thread created = DetachedThread.of(THREAD, this::awaitEnd);
            created.setDaemon(false);
            created.start();
            thread = created;
        } else if (!wanted && thread != null) {
            Thread ending = thread;
            thread = null;
            ending.interrupt();
        }
    }

    private void awaitEnd() {
        while (isWanted()) {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException end) {
                // Interrupted by set(false), or by other code, which must not end the process.
            }
        }
    }

    private synchronized boolean isWanted() {
        return Thread.currentThread() == thread;
    }
}
