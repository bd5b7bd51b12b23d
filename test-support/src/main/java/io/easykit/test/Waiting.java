package io.easykit.test;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for a state of another process, which can only be polled. */
final class Waiting {
    private static final Duration PAUSE = Duration.ofMillis(10);

    private Waiting() {}

    /**
     * Polls until the condition holds.
     *
     * @throws IllegalStateException with the message if it does not hold in time
     */
    static void until(Duration timeout, BooleanSupplier condition, Supplier<String> message) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(message.get());
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting", e);
        }
    }
}
