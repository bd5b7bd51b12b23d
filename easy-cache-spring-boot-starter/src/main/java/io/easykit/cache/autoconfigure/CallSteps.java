package io.easykit.cache.autoconfigure;

import io.easykit.cache.async.Futures;
import io.easykit.cache.async.Steps;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;

/**
 * Runs the steps of calls that hold no thread between them. A stop waits for running calls, whose steps still have threads, and
 * rejects new ones. Without a bound: a method may wait for another call. Not an {@code Executor} bean, as
 * {@link BackgroundExecutor}.
 */
final class CallSteps implements SmartLifecycle {

    private final String threadNames;
    private final boolean virtual;
    private final TaskDecorator decorator;
    private final Duration grace;
    private volatile @Nullable Threads threads;

    /**
     * @param decorator propagates thread-bound state of the caller to each step
     * @param grace how long a stop waits for running calls
     */
    CallSteps(String threadNames, boolean virtual, TaskDecorator decorator, Duration grace) {
        this.threadNames = threadNames;
        this.virtual = virtual;
        this.decorator = decorator;
        this.grace = grace;
    }

    /** @throws RejectedExecutionException if the application is not running */
    Steps open() {
        Threads running = threads;
        if (running == null || !running.begin()) {
            throw BackgroundExecutor.notRunning(threadNames, getPhase());
        }
        try {
            return new Steps(running.executor, decorator::decorate, running::end);
        } catch (RuntimeException | Error failure) {
            running.end();
            throw failure;
        }
    }

    @Override
    public synchronized void start() {
        if (threads == null) {
            threads = virtual ? virtualThreads() : reusedThreads();
        }
    }

    private Threads virtualThreads() {
        SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(threadNames);
        executor.setVirtualThreads(true);
        return new Threads(executor, () -> {});
    }

    private Threads reusedThreads() {
        ThreadPoolExecutor executor = Futures.reusedThreads(threadNames);
        return new Threads(executor, executor::shutdownNow);
    }

    @Override
    public synchronized void stop() {
        Threads running = threads;
        threads = null;
        if (running != null) {
            running.close(grace);
        }
    }

    @Override
    public void stop(Runnable callback) {
        BackgroundExecutor.stopApart(threadNames, this::stop, callback);
    }

    @Override
    public boolean isRunning() {
        return threads != null;
    }

    @Override
    public int getPhase() {
        return BackgroundExecutor.PHASE;
    }

    /** The threads between a start and a stop, and how many calls run. */
    private static final class Threads {

        private final Executor executor;
        private final Runnable shutdown;
        private int calls;
        private boolean closed;

        Threads(Executor executor, Runnable shutdown) {
            this.executor = executor;
            this.shutdown = shutdown;
        }

        synchronized boolean begin() {
            calls += closed ? 0 : 1;
            return !closed;
        }

        synchronized void end() {
            calls--;
            notifyAll();
        }

        synchronized void close(Duration grace) {
            closed = true;
            long end = System.nanoTime() + grace.toNanos();
            try {
                for (long left = grace.toMillis();
                        calls > 0 && left > 0;
                        left = (end - System.nanoTime()) / 1_000_000) {
                    wait(left);
                }
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            shutdown.run();
        }
    }
}
