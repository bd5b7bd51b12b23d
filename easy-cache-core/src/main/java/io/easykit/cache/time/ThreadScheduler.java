package io.easykit.cache.time;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A daemon thread. */
final class ThreadScheduler implements EngineTime.Scheduler {

    private final ScheduledThreadPoolExecutor executor;

    ThreadScheduler(String name) {
        executor = new ScheduledThreadPoolExecutor(1, task -> DetachedThread.of(name, task));
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    @Override
    public void schedule(Runnable task, long delayNanos) {
        var unused = executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void repeat(Runnable task, long delayNanos) {
        var unused = executor.scheduleWithFixedDelay(() -> run(task), 0, delayNanos, TimeUnit.NANOSECONDS);
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable failure) {
            // The task has reported it, unless that has failed for lack of memory. A task that throws is not run again.
        }
    }

    @Override
    public void stop() {
        executor.shutdown();
    }

    @Override
    public void stopNow() {
        executor.shutdownNow();
    }

    @Override
    public boolean awaitStop(long nanos) throws InterruptedException {
        return executor.awaitTermination(nanos, TimeUnit.NANOSECONDS);
    }
}
