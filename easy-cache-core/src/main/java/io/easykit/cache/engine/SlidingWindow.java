package io.easykit.cache.engine;

import io.easykit.cache.CircuitBreakerOptions;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts calls and failures of the last while, in slots of time. Two threads that enter a new slot at the same moment may
 * lose a few counts: this is a thermometer, not a ledger.
 */
final class SlidingWindow {

    static final int SLOTS = 10;

    private final double failureRate;
    private final int minimumCalls;
    private final long slotNanos;
    private final Ticker ticker;
    private final long start;

    private final AtomicLongArray calls = new AtomicLongArray(SLOTS);
    private final AtomicLongArray failures = new AtomicLongArray(SLOTS);
    private final AtomicLong newest = new AtomicLong();

    SlidingWindow(CircuitBreakerOptions options, Ticker ticker) {
        this.failureRate = options.failureRate();
        this.minimumCalls = options.minimumCalls();
        this.slotNanos = options.window().toNanos() / SLOTS;
        this.ticker = ticker;
        this.start = ticker.nanoTime();
    }

    void succeeded() {
        calls.incrementAndGet(slot());
    }

    /** Whether too many calls failed. */
    boolean failed() {
        int slot = slot();
        calls.incrementAndGet(slot);
        failures.incrementAndGet(slot);
        long all = sum(calls);
        return all >= minimumCalls && sum(failures) >= failureRate * all;
    }

    void clear() {
        for (int slot = 0; slot < SLOTS; slot++) {
            calls.set(slot, 0);
            failures.set(slot, 0);
        }
    }

    private int slot() {
        long now = (ticker.nanoTime() - start) / slotNanos;
        long last = newest.get();
        if (now > last && newest.compareAndSet(last, now)) {
            for (long passed = Math.max(last + 1, now - SLOTS + 1); passed <= now; passed++) {
                calls.set((int) (passed % SLOTS), 0);
                failures.set((int) (passed % SLOTS), 0);
            }
        }
        return (int) (now % SLOTS);
    }

    private static long sum(AtomicLongArray slots) {
        long sum = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            sum += slots.get(slot);
        }
        return sum;
    }
}
