package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/** An executor of the application that blocks while it is full, on loops that have threads. */
class WorkersOfApplicationTests {

    /** Times of messages are rounded up to it, and the clock of the store moves only here. */
    private static final Duration MILLI = Duration.ofMillis(1);

    private static final Duration LEASE = Duration.ofSeconds(1);

    private final CountDownLatch end = new CountDownLatch(1);
    private final TestQueue queue = new TestQueue(
            builder -> builder.loops(LoopExecutor.THREADS).node("blocked").workers(oneAtATime()));

    private static SimpleAsyncTaskExecutor oneAtATime() {
        SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("one-");
        executor.setConcurrencyLimit(1);
        executor.setDaemon(true);
        return executor;
    }

    /** The handler of one message waits, and the executor blocks with the other. */
    private ListenerContainer startTwo() {
        queue.send("a", Duration.ZERO);
        queue.send("b", Duration.ZERO);
        queue.time.advance(MILLI);
        ListenerContainer container = queue.start(
                listener().concurrency(2).lease(LEASE).stopTimeout(Duration.ofMillis(100)), message -> end.await());
        await().until(() -> queue.runs.size() == 1 && queue.stats().inFlight() == 2);
        return container;
    }

    @Test
    void renewsLeasesWhileTheExecutorBlocks() {
        ListenerContainer container = startTwo();

        AtomicInteger renewals = new AtomicInteger();
        await().until(() -> renewals.addAndGet((int)
                        queue.line.takeCalls().stream().filter("extend"::equals).count())
                >= 6);
        assertThat(queue.events(DelayQueueEvent.LeaseLost.class)).isEmpty();
        end.countDown();

        await().until(() -> queue.stats().counters().acknowledged() == 2);
        assertThat(queue.runIds()).containsExactlyInAnyOrder("a", "b");
        container.stop();
    }

    @Test
    void stopsWhileTheExecutorBlocks() {
        ListenerContainer container = startTwo();

        assertThat(CompletableFuture.runAsync(container::stop).orTimeout(10, TimeUnit.SECONDS))
                .succeedsWithin(Duration.ofSeconds(10));

        assertThat(queue.stats().inFlight()).isZero();
        assertThat(queue.runs).hasSize(1);
        String waited = queue.runIds().contains("a") ? "b" : "a";
        assertThat(Objects.requireNonNull(queue.history(waited)).releases()).isEqualTo(1);
    }

    @Test
    void claimsNothingForASecondAfterARefusalThatComesLater() {
        AtomicInteger refusals = new AtomicInteger(1);
        TestQueue full = new TestQueue(
                builder -> builder.loops(LoopExecutor.THREADS).node("full").workers(task -> {
                    if (refusals.getAndDecrement() > 0) {
                        throw new IllegalStateException("full");
                    }
                    new Thread(task, "mine").start();
                }));
        full.send("a", Duration.ZERO);
        long begin = System.nanoTime();
        ListenerContainer container = full.start(listener(), message -> {});

        await().until(() -> {
            full.time.advance(MILLI);
            return full.stats().counters().acknowledged() == 1;
        });
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(900));
        assertThat(refusals).hasValue(-1);
        container.stop();
    }

    /** The permit of a run is free before its thread is: here that is so until the next run is rejected. */
    @Test
    void needsNoMoreThreadsThanPermits() {
        int messages = 40;
        Semaphore rejections = new Semaphore(0);
        ThreadPoolExecutor threads =
                new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new SynchronousQueue<>(), (task, pool) -> {
                    rejections.release();
                    throw new RejectedExecutionException("full");
                }) {
                    @Override
                    protected void afterExecute(Runnable task, @Nullable Throwable error) {
                        rejections.acquireUninterruptibly();
                        rejections.drainPermits();
                    }
                };
        TestQueue exact = new TestQueue(
                builder -> builder.loops(LoopExecutor.THREADS).node("exact").workers(threads));
        for (int i = 0; i < messages; i++) {
            exact.send("m" + i, Duration.ZERO);
        }
        exact.time.advance(MILLI);
        ListenerContainer container = exact.start(listener().concurrency(1), message -> {});

        // Refusals would take a second each.
        await().atMost(Duration.ofSeconds(messages - 10))
                .until(() -> exact.stats().counters().acknowledged() == messages);

        assertThat(exact.runs).hasSize(messages);
        container.stop();
        rejections.release();
        threads.shutdown();
    }
}
