package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
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
                .hasMessageContaining("the threads 'any-…' run from the lifecycle phase 2")
                .hasMessageContaining("Call it from a bean with a higher phase");

        calls.start();
        CompletableFuture<String> thread = new CompletableFuture<>();
        calls.execute(() -> thread.complete(Thread.currentThread().getName()));
        assertThat(thread.get(30, TimeUnit.SECONDS)).startsWith("any-");

        calls.stop();
        assertThatThrownBy(() -> calls.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void stopsOnTheCallingThreadIfNoOtherOneCanBeStarted() {
        calls.start();
        List<String> calledBack = new ArrayList<>();

        BackgroundExecutor.stopApart(ThreadWithoutMemory::new, calls::stop, () -> calledBack.add("stopped"));

        assertThat(calledBack).containsExactly("stopped");
        assertThat(calls.isRunning()).isFalse();
    }

    private static final class ThreadWithoutMemory extends Thread {

        private ThreadWithoutMemory(Runnable task) {
            super(task);
        }

        @Override
        public synchronized void start() {
            throw new OutOfMemoryError("unable to create native thread");
        }
    }

    /** So the stops of one lifecycle phase wait at the same time. */
    @Test
    void aStopByTheApplicationKeepsNoOtherOneWaiting() throws Exception {
        calls.start();
        CompletableFuture<Boolean> running = new CompletableFuture<>();
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        calls.execute(() -> {
            running.complete(true);
            end.join();
        });
        running.get(30, TimeUnit.SECONDS);
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        calls.stop(() -> stopped.complete(true));

        assertThat(stopped).isNotDone();
        end.complete(true);
        assertThat(stopped.get(30, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> calls.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }
}
