package io.easykit.cache.async;

import io.easykit.cache.RunningLoad;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Runs calls on other threads, one for each call, and waits there for asynchronous results. */
public final class Futures {

    private final Executor executor;

    /** @param executor runs each task at once, on a thread that may wait; it may reject tasks */
    public Futures(Executor executor) {
        this.executor = executor;
    }

    /** Runs each call on a new daemon thread. */
    public static Futures onNewThreads() {
        return new Futures(task -> {
            Thread thread = new Thread(task, "easy-cache-call");
            thread.setDaemon(true);
            thread.start();
        });
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
            executor.execute(RunningLoad.carry(() -> complete(future, work)));
        } catch (RejectedExecutionException stopped) {
            future.completeExceptionally(stopped);
        } catch (Throwable failure) {
            future.completeExceptionally(new RejectedExecutionException(
                    "The call has not run: its thread could not be started. Bound the number of calls at a time, or use"
                            + " virtual threads.",
                    failure));
        }
        return future;
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
            return future(stage).get();
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
        CompletableFuture<? extends T> future = future(stage);
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

    /** A stage need not be able to return a future. */
    private static <T> CompletableFuture<? extends T> future(CompletionStage<? extends T> stage) {
        if (stage instanceof CompletableFuture<? extends T> itself) {
            return itself;
        }
        CompletableFuture<T> future = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                future.complete(value);
            } else {
                future.completeExceptionally(failure);
            }
        });
        return future;
    }
}
