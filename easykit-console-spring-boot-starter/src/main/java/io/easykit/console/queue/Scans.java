package io.easykit.console.queue;

import io.easykit.console.Refusal;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/** Limits the requests of this node that read many messages. */
final class Scans {

    private static final int MAX_SCANS = 2;

    private final Semaphore permits = new Semaphore(MAX_SCANS);

    /** Runs a scan, or refuses it if two are running. */
    <T> T run(Supplier<T> scan) {
        if (!permits.tryAcquire()) {
            throw busy();
        }
        try {
            return scan.get();
        } finally {
            permits.release();
        }
    }

    /** Refuses a scan that would begin now if two are running. */
    void requireFree() {
        if (permits.availablePermits() == 0) {
            throw busy();
        }
    }

    private static Refusal busy() {
        return new Refusal(
                429,
                "This node runs " + MAX_SCANS + " searches or exports already.",
                "Try again in a moment, or use another node.",
                "busy");
    }
}
