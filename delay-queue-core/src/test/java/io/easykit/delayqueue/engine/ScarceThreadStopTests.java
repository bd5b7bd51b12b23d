package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.awaitLatch;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.time.LoopExecutor;
import io.easykit.delayqueue.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stops, and the starts that they wait for, while the system makes no more threads. */
class ScarceThreadStopTests {

    private final CountDownLatch release = new CountDownLatch(1);
    private volatile String scarce = "none";

    /** Threads that make no thread of a scarce name. */
    private final DelayQueueEngine real = DelayQueueEngine.builder(
                    new InMemoryQueueStore(() -> System.currentTimeMillis() * 1000))
            .codec(new TestQueue.TextCodec())
            .loops(new ThreadLoops() {
                @Override
                public Thread startThread(String name, Runnable task) {
                    require(name);
                    return super.startThread(name, task);
                }
            })
            .build();

    @AfterEach
    void close() {
        release.countDown();
        real.close();
    }

    private void require(String name) {
        if (name.startsWith(scarce)) {
            // An OutOfMemoryError would end the JVM of the tests.
            throw new Error("unable to create native thread " + name);
        }
    }

    private ListenerContainer start(String id, Duration stopTimeout, MessageHandler<String> handler) {
        ListenerContainer container = real.container(
                ListenerEndpoint.builder(id, id, String.class)
                        .stopTimeout(stopTimeout)
                        .build(),
                handler);
        container.start();
        return container;
    }

    private ListenerContainer startBlocked(String id, Duration stopTimeout) {
        CountDownLatch begun = new CountDownLatch(1);
        ListenerContainer container = start(id, stopTimeout, message -> {
            begun.countDown();
            release.await();
        });
        real.template().send(OutgoingMessage.of(id, "x"));
        awaitLatch(begun);
        return container;
    }

    /** Both have the same time from the beginning of the stop. */
    @ParameterizedTest
    @ValueSource(strings = {"delay-queue-stop-a", "delay-queue-stop-b", "delay-queue-stop-"})
    void stopsAllIfThreadsAreMissing(String name) {
        Duration stopTimeout = Duration.ofSeconds(2);
        ListenerContainer a = startBlocked("a", stopTimeout);
        ListenerContainer b = startBlocked("b", stopTimeout);
        scarce = name;

        long begin = System.nanoTime();
        ListenerContainer.stopAll(List.of(a, b));
        Duration took = Duration.ofNanos(System.nanoTime() - begin);

        assertThat(a.isRunning()).isFalse();
        assertThat(b.isRunning()).isFalse();
        assertThat(real.stats("a").inFlight() + real.stats("b").inFlight()).isZero();
        assertThat(took).isLessThan(stopTimeout.multipliedBy(2));
    }

    @Test
    void startsAgainAfterAStopThatGotNoThread() throws InterruptedException {
        ListenerContainer container = startBlocked("a", Duration.ofMinutes(1));
        scarce = "delay-queue-stop-";
        Thread stop = new Thread(container::stop);
        stop.start();
        await().until(stop::getState, Thread.State.TIMED_WAITING::equals);
        scarce = "none";
        Thread.currentThread().interrupt();
        container.start();
        assertThat(Thread.interrupted()).isTrue();
        release.countDown();

        stop.join();
        await().until(container::isRunning);
        container.stop();
    }

    @Test
    void stopsTheOthersIfAHandlerStopsAllAndGetsNoThread() {
        ListenerContainer other = start("b", Duration.ofMinutes(1), message -> {});
        ListenerContainer[] self = new ListenerContainer[1];
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        self[0] = start(
                "a",
                Duration.ofMinutes(1),
                message -> outcome.complete(catchThrowable(() -> ListenerContainer.stopAll(List.of(self[0], other)))));
        scarce = "delay-queue-stop-";
        real.template().send(OutgoingMessage.of("a", "x"));

        assertThat(outcome).succeedsWithin(Duration.ofSeconds(20));
        assertThat(outcome.join()).hasMessageContaining("delay-queue-stop-a");
        assertThat(other.isRunning()).isFalse();
        await().until(self[0]::hasEnded);
        self[0].stop();
        assertThat(self[0].isRunning()).isFalse();
    }

    /** Only the test moves it. */
    @Test
    void aRepeatedStartDoesNotMoveVirtualTime() {
        VirtualTime time = new VirtualTime(Instant.ofEpochSecond(1_700_000_000));
        AtomicInteger starts = new AtomicInteger();
        LoopExecutor virtual = time.loops();
        DelayQueueEngine engine = DelayQueueEngine.builder(new InMemoryQueueStore(time::micros))
                .codec(new TestQueue.TextCodec())
                .workers(time.workers())
                .loops(new LoopExecutor() {
                    @Override
                    public long nanos() {
                        return virtual.nanos();
                    }

                    @Override
                    public void sleep(long nanos) throws InterruptedException {
                        virtual.sleep(nanos);
                    }

                    @Override
                    public boolean await(CountDownLatch ended, Duration most) throws InterruptedException {
                        return virtual.await(ended, most);
                    }

                    @Override
                    public Loop create(String name, Step step) {
                        if (name.startsWith("delay-queue-monitor-")) {
                            starts.incrementAndGet();
                        }
                        require(name);
                        return virtual.create(name, step);
                    }
                })
                .build();
        ListenerContainer[] self = new ListenerContainer[1];
        self[0] = engine.container(listener().build(), message -> {
            self[0].stop();
            scarce = "delay-queue-monitor-";
            self[0].start();
        });
        self[0].start();
        engine.template().send(OutgoingMessage.of(TOPIC, "x"));
        time.advance(Duration.ofSeconds(1));
        await().until(() -> starts.get() >= 2);
        long before = time.nanos();

        await().until(() -> starts.get() >= 3);
        assertThat(time.nanos()).isEqualTo(before);

        scarce = "none";
        await().until(self[0]::isRunning);
        self[0].stop();
        engine.close();
    }
}
