package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackgroundExecutorTests {

    private final BackgroundExecutor calls = BackgroundExecutor.unlimited("any-", false, task -> task);

    @Test
    void refusesCallsWhileItDoesNotRunAndNamesTheRemedy() throws Exception {
        assertThatThrownBy(() -> calls.execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("the threads 'any-…' run from the lifecycle phase 1")
                .hasMessageContaining("Call it from a bean with a higher phase");

        calls.start();
        CompletableFuture<String> thread = new CompletableFuture<>();
        calls.execute(() -> thread.complete(Thread.currentThread().getName()));
        assertThat(thread.get(30, TimeUnit.SECONDS)).startsWith("any-");

        calls.stop();
        assertThatThrownBy(() -> calls.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }
}
