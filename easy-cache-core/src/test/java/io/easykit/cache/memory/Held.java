package io.easykit.cache.memory;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A call that is held before it reaches the store. */
public final class Held {

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    public void awaitReached() throws InterruptedException {
        if (!reached.await(10, TimeUnit.SECONDS)) {
            throw new AssertionError("No call came");
        }
    }

    public void release() {
        released.countDown();
    }

    void hold() {
        reached.countDown();
        boolean interrupted = false;
        while (released.getCount() > 0) {
            try {
                released.await();
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
