package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class WorkerPoolTests {

    @Test
    void interruptsAtTheEndWhatStillRuns() throws InterruptedException {
        Workers workers = WorkerPool.FOR_EACH.create(TestQueue.listener().build(), LoopExecutor.THREADS);
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<String> end = new CompletableFuture<>();
        workers.execute(
                () -> {
                    begun.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        end.complete("interrupted");
                    }
                },
                end::completeExceptionally);
        begun.await();

        workers.stop();

        assertThat(end.join()).isEqualTo("interrupted");
    }

    /** Of a request, for example, during which an operator starts a listener. */
    @Test
    void handlersAndLoopsInheritNoThreadLocalOfTheThreadThatStartsAListener() {
        InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
        CompletableFuture<Optional<String>> handler = new CompletableFuture<>();
        CompletableFuture<Optional<String>> loop = new CompletableFuture<>();
        Workers workers = WorkerPool.FOR_EACH.create(TestQueue.listener().build(), LoopExecutor.THREADS);
        tenant.set("one");
        try {
            workers.execute(() -> handler.complete(Optional.ofNullable(tenant.get())), handler::completeExceptionally);
            LoopExecutor.THREADS
                    .create("loop", () -> {
                        loop.complete(Optional.ofNullable(tenant.get()));
                        return LoopExecutor.END;
                    })
                    .start();
        } finally {
            tenant.remove();
        }

        assertThat(handler.join()).isEmpty();
        assertThat(loop.join()).isEmpty();
        workers.stop();
    }

    @Test
    void aRunGoesToAnIdleThreadIfNoOtherCanBeMade() {
        Workers workers = few(1);

        CompletableFuture<String> first = run(workers);
        assertThat(first.join()).isEqualTo("ran");
        // It is idle a moment after its run has ended.
        await().until(() -> run(workers).join(), "ran"::equals);
        workers.stop();
    }

    /** Other nodes may have threads, and its lease would be renewed until its turn. */
    @Test
    void aRunDoesNotWaitForABusyThreadIfNoOtherCanBeMade() {
        Workers workers = few(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<String> first = new CompletableFuture<>();
        workers.execute(
                () -> {
                    try {
                        end.await();
                        first.complete("ran");
                    } catch (InterruptedException e) {
                        first.completeExceptionally(e);
                    }
                },
                first::completeExceptionally);
        assertThat(run(workers)).isCompletedWithValue("refused: unable to create native thread");
        end.countDown();

        assertThat(first.join()).isEqualTo("ran");
        workers.stop();
    }

    /** Otherwise its lease would be renewed without a run. */
    @Test
    void aRunIsRefusedIfThereIsNoThread() {
        Workers workers = few(0);

        assertThat(run(workers).join()).isEqualTo("refused: unable to create native thread");
        assertThat(run(workers).join()).isEqualTo("refused: unable to create native thread");
        workers.stop();
        assertThat(run(workers).join()).startsWith("refused: ");
    }

    @Test
    void aQueuedRunIsRefusedIfTheLastThreadEndsAndNoOtherCanBeMade() {
        Workers workers = few(1, 1);
        CountDownLatch end = new CountDownLatch(1);
        workers.execute(
                () -> {
                    awaitEnd(end);
                    throw new AssertionError("defect");
                },
                refusal -> {});
        CompletableFuture<String> second = run(workers);
        end.countDown();

        assertThat(second).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("refused: unable to create native thread");
        workers.stop();
    }

    /** The last thread may end just before the pool queues a run. */
    @Test
    void aRunThatWasQueuedAndRefusedDoesNotRunLater() {
        WaitingRuns waiting = new WaitingRuns();
        AtomicBoolean hasThreads = new AtomicBoolean(true);
        AtomicReference<Thread> last = new AtomicReference<>();
        Workers workers = new WorkerPool(
                1,
                task -> {
                    if (!hasThreads.get()) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    last.set(new Thread(task));
                    return last.get();
                },
                waiting);
        CountDownLatch end = new CountDownLatch(1);
        workers.execute(
                () -> {
                    awaitEnd(end);
                    throw new AssertionError("defect");
                },
                refusal -> {});
        hasThreads.set(false);
        waiting.beforeOffer = () -> {
            end.countDown();
            awaitEnd(last.get());
        };
        List<String> outcomes = new CopyOnWriteArrayList<>();
        workers.execute(() -> outcomes.add("ran"), refusal -> outcomes.add("refused"));
        assertThat(waiting).hasSize(1);

        waiting.beforeOffer = () -> {};
        hasThreads.set(true);
        assertThat(run(workers).join()).isEqualTo("ran");
        assertThat(run(workers).join()).isEqualTo("ran");
        assertThat(waiting).isEmpty();
        assertThat(outcomes).containsExactly("refused");
        workers.stop();
    }

    private static final class WaitingRuns extends LinkedBlockingQueue<Runnable> {

        private static final long serialVersionUID = 1L;

        private transient Runnable beforeOffer = () -> {};

        @Override
        public boolean offer(Runnable run) {
            beforeOffer.run();
            return super.offer(run);
        }
    }

    private static void awaitEnd(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void awaitEnd(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Workers few(int threads) {
        return few(4, threads);
    }

    /** The system starts no more threads than these. */
    private static Workers few(int most, int threads) {
        AtomicInteger left = new AtomicInteger(threads);
        return new WorkerPool(most, task -> {
            if (left.getAndDecrement() <= 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });
    }

    private static CompletableFuture<String> run(Workers workers) {
        CompletableFuture<String> end = new CompletableFuture<>();
        workers.execute(() -> end.complete("ran"), refusal -> end.complete("refused: " + refusal.getMessage()));
        return end;
    }
}
