package io.easykit.trial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Calls that are repeated with a pause after each. Each has its own thread. */
final class PacedCalls implements AutoCloseable {

    private static final Duration END_WITHIN = Duration.ofMinutes(1);

    private final List<ScheduledExecutorService> threads = new ArrayList<>();
    private final List<Future<?>> calls = new ArrayList<>();

    void repeat(String name, Duration pause, Runnable call) {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, name));
        threads.add(thread);
        calls.add(thread.scheduleWithFixedDelay(call, 0, pause.toNanos(), TimeUnit.NANOSECONDS));
    }

    /**
     * Waits up to a minute for the running calls, and repeats none.
     *
     * @throws IllegalStateException if a call threw an exception, or did not end in time
     */
    @Override
    public void close() {
        threads.forEach(ScheduledExecutorService::shutdown);
        long deadline = System.nanoTime() + END_WITHIN.toNanos();
        try {
            for (ScheduledExecutorService thread : threads) {
                if (!thread.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    throw new IllegalStateException("A call still runs after " + END_WITHIN);
                }
            }
            for (Future<?> call : calls) {
                throwWhatEnded(call);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static void throwWhatEnded(Future<?> call) throws InterruptedException {
        try {
            call.get();
        } catch (CancellationException closed) {
            // The expected way to end.
        } catch (ExecutionException e) {
            throw new IllegalStateException("A part of the load ended by itself", e.getCause());
        }
    }
}
