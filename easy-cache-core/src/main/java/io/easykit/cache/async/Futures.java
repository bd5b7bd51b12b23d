package io.easykit.cache.async;

import io.easykit.cache.RunningLoad;
import io.easykit.cache.time.DetachedThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Runs asynchronous calls. A call that blocks gets a thread of its own, and waits on it for asynchronous results. A call that does
 * not block runs as {@link Steps}.
 */
public final class Futures {

    private static final Executor NEW_THREADS = task -> {
        Thread thread = new Thread(task, "easy-cache-call");
        thread.setDaemon(true);
        thread.start();
    };

    private final Executor threads;
    private final Supplier<Steps> steps;

    /**
     * @param executor runs each task at once, on a thread that may wait; it may reject tasks. If it bounds its threads, calls that
     *     wait for each other may wait for ever
     */
    public Futures(Executor executor) {
        this(executor, () -> new Steps(executor, UnaryOperator.identity(), () -> {}));
    }

    /**
     * @param threads runs each call that waits, as above
     * @param steps called on the thread of the caller for each call that does not wait; may throw a
     *     {@link RejectedExecutionException}
     */
    public Futures(Executor threads, Supplier<Steps> steps) {
        this.threads = threads;
        this.steps = steps;
    }

    /** Runs each call that waits on a new daemon thread, and steps on daemon threads that end when they are idle. */
    public static Futures onNewThreads() {
        Executor pool = reusedThreads("easy-cache-call-");
        return new Futures(NEW_THREADS, () -> new Steps(pool, UnaryOperator.identity(), () -> {}));
    }

    /**
     * Any number of daemon threads, which run further tasks until they are idle. They inherit nothing from the threads that cause
     * their start.
     *
     * @param names start of their names
     */
    public static ThreadPoolExecutor reusedThreads(String names) {
        AtomicInteger number = new AtomicInteger();
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                10,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> DetachedThread.of(names + number.incrementAndGet(), task));
    }

    /** Work that returns a value. */
    @FunctionalInterface
    public interface Work<T> {

        @Nullable T run() throws Throwable;
    }

    /** Runs work on another thread, as a part of the caller's load. The future ends with the very exception of the work. */
    public <T> CompletableFuture<@Nullable T> start(Work<T> work) {
        CompletableFuture<@Nullable T> future = new CompletableFuture<>();
        try {
            Runnable task = RunningLoad.carry(() -> complete(future, work));
            threads.execute(AwaitedTask.of(task, future::completeExceptionally));
        } catch (RejectedExecutionException stopped) {
            future.completeExceptionally(stopped);
        } catch (Throwable failure) {
            future.completeExceptionally(notStarted(failure));
        }
        return future;
    }

    /**
     * Opens the steps of a call, on the thread of its caller.
     *
     * @throws RejectedExecutionException if there are no threads
     */
    public Steps open() {
        try {
            return steps.get();
        } catch (RejectedExecutionException stopped) {
            throw stopped;
        } catch (Throwable failure) {
            throw notStarted(failure);
        }
    }

    static RejectedExecutionException notStarted(Throwable failure) {
        return new RejectedExecutionException(
                "The call has not run: its thread could not be started. Bound the number of calls at a time, or use"
                        + " virtual threads.",
                failure);
    }

    private static <T> void complete(CompletableFuture<@Nullable T> future, Work<T> work) {
        try {
            future.complete(work.run());
        } catch (Throwable failure) {
            future.completeExceptionally(failure);
        }
    }

    /** Waits for a result on this thread; throws the exception of the stage. A stage that is null has no result. */
    public static <T> @Nullable T await(@Nullable CompletionStage<? extends T> stage) throws Throwable {
        if (stage == null) {
            return null;
        }
        try {
            return of(stage).get();
        } catch (ExecutionException failed) {
            throw failed.getCause() == null ? failed : failed.getCause();
        }
    }

    /**
     * As {@link #await}, but goes on after an interrupt, which stays set. An interrupt does not end the work of the stage, so
     * what has to follow that work must not begin earlier.
     */
    public static <T> @Nullable T awaitUninterruptibly(@Nullable CompletionStage<? extends T> stage) throws Throwable {
        if (stage == null) {
            return null;
        }
        CompletableFuture<? extends T> future = of(stage);
        boolean interrupted = false;
        while (!future.isDone()) {
            try {
                future.exceptionally(any -> null).get();
            } catch (InterruptedException stop) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return await(future);
    }

    /** The future of a stage, which need not be able to return one. A stage that is null has no result. */
    public static <T> CompletableFuture<? extends @Nullable T> of(@Nullable CompletionStage<? extends T> stage) {
        if (stage instanceof CompletableFuture<? extends T> itself) {
            return itself;
        }
        CompletableFuture<@Nullable T> future = new CompletableFuture<>();
        if (stage == null) {
            future.complete(null);
            return future;
        }
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                future.complete(value);
            } else {
                future.completeExceptionally(failure);
            }
        });
        return future;
    }

    /** The failure that a stage has wrapped. */
    public static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }
}
