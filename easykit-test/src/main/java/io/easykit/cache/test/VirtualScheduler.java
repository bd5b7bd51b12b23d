package io.easykit.cache.test;

import io.easykit.cache.time.EngineTime;
import io.easykit.delayqueue.time.LoopExecutor;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Runs the rounds of a worker in virtual time. */
final class VirtualScheduler implements EngineTime.Scheduler {

    private static final long ONCE = -1;

    private final LoopExecutor loops;
    private final LoopExecutor.Loop loop;
    private final String name;

    // Guarded by this.
    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::sequence));

    private long sequence;
    private boolean stopped;

    /** @param pause from the end of the task to its next begin, or {@link #ONCE} */
    private record Task(long at, long sequence, Runnable action, long pause) {}

    VirtualScheduler(LoopExecutor loops, String name) {
        this.loops = loops;
        this.name = name;
        this.loop = loops.create(name, this::step);
        loop.start();
    }

    @Override
    public void execute(Runnable task) {
        schedule(task, 0);
    }

    @Override
    public void schedule(Runnable task, long delayNanos) {
        plan(task, delayNanos, ONCE);
    }

    @Override
    public void repeat(Runnable task, long delayNanos) {
        plan(task, 0, delayNanos);
    }

    private void plan(Runnable action, long delay, long pause) {
        synchronized (this) {
            if (stopped) {
                throw new RejectedExecutionException("The rounds of '" + name + "' were stopped.");
            }
            tasks.add(new Task(loops.nanos() + delay, sequence++, action, pause));
        }
        loop.wake();
    }

    /** Runs one task. */
    private long step() {
        Task due = takeDue();
        if (due != null) {
            due.action.run();
            repeat(due);
        }
        return next();
    }

    private synchronized @Nullable Task takeDue() {
        Task first = tasks.peek();
        return first == null || first.at > loops.nanos() ? null : tasks.poll();
    }

    private synchronized void repeat(Task task) {
        if (task.pause != ONCE && !stopped) {
            tasks.add(new Task(loops.nanos() + task.pause, sequence++, task.action, task.pause));
        }
    }

    private synchronized long next() {
        Task first = tasks.peek();
        if (first != null) {
            return Math.max(0, first.at - loops.nanos());
        }
        return stopped ? LoopExecutor.END : LoopExecutor.NEVER;
    }

    @Override
    public void stop() {
        synchronized (this) {
            stopped = true;
            tasks.clear();
        }
        loop.wake();
    }

    @Override
    public void stopNow() {
        stop();
    }

    /** The task that runs does so on the thread that advances the time. */
    @Override
    public boolean awaitStop(long nanos) {
        return true;
    }
}
