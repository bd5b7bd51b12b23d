package io.easykit.cache.autoconfigure;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;

/**
 * Runs background refreshes, each on one of a bounded number of threads, or calls that wait for each other, each on a thread of its
 * own. Not an {@code Executor} bean: the application would lose the one of Spring Boot.
 */
final class BackgroundExecutor implements SmartLifecycle {

    /** After the cache at a start, and before it at a stop: while a call updates an entry, the cache renews its mark. */
    static final int PHASE = EasyCacheLifecycle.PHASE + 1;

    private static final int THREADS = 8;

    /** How long a stop waits for running refreshes, which are of no use to the stopped application. */
    private static final Duration REFRESH_GRACE = Duration.ofSeconds(2);

    /** How long a stop waits for running calls of methods. The default of {@code spring.lifecycle.timeout-per-shutdown-phase}. */
    static final Duration CALL_GRACE = Duration.ofSeconds(30);

    private final String threadNames;
    private final int threads;
    private final Duration grace;
    private final boolean virtual;
    private final TaskDecorator decorator;
    private volatile @Nullable SimpleAsyncTaskExecutor executor;

    /** @param decorator propagates thread-bound state of the caller */
    BackgroundExecutor(boolean virtual, TaskDecorator decorator) {
        this("easy-cache-refresh-", THREADS, REFRESH_GRACE, virtual, decorator);
    }

    private BackgroundExecutor(
            String threadNames, int threads, Duration grace, boolean virtual, TaskDecorator decorator) {
        this.threadNames = threadNames;
        this.threads = threads;
        this.grace = grace;
        this.virtual = virtual;
        this.decorator = decorator;
    }

    /** Rejects no task while it is running. A bound could let tasks wait for others that have no thread. */
    static BackgroundExecutor unlimited(String threadNames, boolean virtual, TaskDecorator decorator) {
        return new BackgroundExecutor(
                threadNames, SimpleAsyncTaskExecutor.UNBOUNDED_CONCURRENCY, CALL_GRACE, virtual, decorator);
    }

    /** @throws RejectedExecutionException if all threads are busy, or the application is not running */
    void execute(Runnable task) {
        SimpleAsyncTaskExecutor running = executor;
        if (running == null) {
            throw notRunning(threadNames, getPhase());
        }
        running.execute(task);
    }

    static RejectedExecutionException notRunning(String threadNames, int phase) {
        return new RejectedExecutionException("The call has not run: the threads '" + threadNames
                + "…' run from the lifecycle phase " + phase
                + " until the application stops. Call it from a bean with a higher phase.");
    }

    @Override
    public synchronized void start() {
        if (executor == null) {
            executor = create();
        }
    }

    @Override
    public synchronized void stop() {
        SimpleAsyncTaskExecutor running = executor;
        executor = null;
        if (running != null) {
            running.close();
        }
    }

    @Override
    public void stop(Runnable callback) {
        stopApart(threadNames, this::stop, callback);
    }

    /** Stops on a thread of its own, so that all beans of a lifecycle phase wait at the same time. */
    static void stopApart(String threadNames, Runnable stop, Runnable callback) {
        stopApart(task -> new Thread(task, threadNames + "stop"), stop, callback);
    }

    /** If no thread can be started, it stops on the calling one: the application waits for the callback. */
    static void stopApart(ThreadFactory threads, Runnable stop, Runnable callback) {
        Runnable task = () -> {
            try {
                stop.run();
            } finally {
                callback.run();
            }
        };
        Thread thread = threads.newThread(task);
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (OutOfMemoryError noThread) {
            task.run();
        }
    }

    @Override
    public boolean isRunning() {
        return executor != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    private SimpleAsyncTaskExecutor create() {
        SimpleAsyncTaskExecutor created = new SimpleAsyncTaskExecutor(threadNames);
        created.setDaemon(true);
        created.setVirtualThreads(virtual);
        created.setConcurrencyLimit(threads);
        created.setRejectTasksWhenLimitReached(threads > 0);
        created.setTaskTerminationTimeout(grace.toMillis());
        created.setTaskDecorator(decorator);
        return created;
    }
}
