package io.easykit.cache.test;

import io.easykit.cache.time.EngineTime;
import io.easykit.delayqueue.time.LoopExecutor;
import io.easykit.delayqueue.time.VirtualTime;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The time of an engine that a test moves. Rounds and refreshes run while time advances. A wait of the engine advances it, as
 * nobody else does.
 */
final class VirtualEngineTime implements EngineTime {

    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final VirtualTime time;
    private final LoopExecutor loops;
    private final Executor tasks;

    /** Reloads that have not begun. Each is planned as a task too. */
    private final Queue<Reload> reloads = new ConcurrentLinkedQueue<>();

    /** Equal to itself only. */
    private static final class Reload {

        private final Runnable task;

        Reload(Runnable task) {
            this.task = task;
        }
    }

    VirtualEngineTime(VirtualTime time) {
        this.time = time;
        this.loops = time.loops();
        this.tasks = time.workers();
    }

    @Override
    public long nanoTime() {
        return time.nanos();
    }

    @Override
    public void pause(long nanos) throws InterruptedException {
        loops.sleep(nanos);
    }

    @Override
    public <T> T await(CompletableFuture<T> result, long nanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        long end = nanoTime() + nanos;
        loops.sleep(0);
        runHeldReloads(result);
        while (!result.isDone()) {
            long left = end - nanoTime();
            if (left <= 0) {
                throw new TimeoutException();
            }
            loops.sleep(Math.min(left, STEP_NANOS));
        }
        return result.get();
    }

    /** So that values live for exactly their TTL. */
    @Override
    public double random() {
        return 0;
    }

    @Override
    public Scheduler newScheduler(String threadName) {
        return new VirtualScheduler(loops, threadName);
    }

    @Override
    public Optional<Executor> background() {
        return Optional.of(this::plan);
    }

    private void plan(Runnable task) {
        Reload reload = new Reload(task);
        reloads.add(reload);
        tasks.execute(() -> {
            if (reloads.remove(reload)) {
                task.run();
            }
        });
    }

    /** Within a transaction planned tasks wait for the next advance. The awaited result may be that of one of them. */
    private void runHeldReloads(CompletableFuture<?> result) {
        Reload next = result.isDone() ? null : reloads.poll();
        while (next != null) {
            next.task.run();
            next = result.isDone() ? null : reloads.poll();
        }
    }

    /** A refresh that has not run at the end of a test method does not run in the next one. */
    void dropRefreshes() {
        reloads.clear();
    }
}
