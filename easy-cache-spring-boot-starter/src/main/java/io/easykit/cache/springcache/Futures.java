package io.easykit.cache.springcache;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Runs calls on other threads, one for each call, and waits there for asynchronous results. */
final class Futures {

    private final Executor executor;

    Futures(Executor executor) {
        this.executor = executor;
    }

    /** Work that returns a value. */
    @FunctionalInterface
    interface Work {

        @Nullable Object run() throws Throwable;
    }

    /** Runs work on another thread. The future ends with the very exception of the work. */
    CompletableFuture<@Nullable Object> start(Work work) {
        CompletableFuture<@Nullable Object> future = new CompletableFuture<>();
        try {
            executor.execute(() -> {
                try {
                    future.complete(work.run());
                } catch (Throwable failure) {
                    future.completeExceptionally(failure);
                }
            });
        } catch (RejectedExecutionException stopped) {
            future.completeExceptionally(stopped);
        }
        return future;
    }

    /** Waits for a result on this thread; throws the exception of the stage. */
    static @Nullable Object await(@Nullable Object stage) throws Throwable {
        if (stage == null) {
            return null;
        }
        try {
            return ((CompletionStage<?>) stage).toCompletableFuture().get();
        } catch (ExecutionException failed) {
            throw failed.getCause() == null ? failed : failed.getCause();
        }
    }
}
