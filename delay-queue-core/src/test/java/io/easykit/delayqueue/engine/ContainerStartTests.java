package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Starts that fail half way, and events that wait, because the system makes no more threads. */
class ContainerStartTests {

    private final TestQueue queue = new TestQueue();
    private int threadsLeft = Integer.MAX_VALUE;
    private @Nullable Thread stopping;

    /** Pauses that have begun, and that may end. */
    private final Semaphore sleeps = new Semaphore(0);

    private final Semaphore wakeups = new Semaphore(0);

    /** Loops whose threads are counted. */
    private LoopExecutor loops(String scarce) {
        return new LoopExecutor() {
            @Override
            public long nanos() {
                return queue.node.nanos();
            }

            @Override
            public void sleep(long nanos) throws InterruptedException {
                queue.node.sleep(nanos);
            }

            @Override
            public void rest(long nanos) throws InterruptedException {
                sleeps.release();
                wakeups.acquire();
            }

            @Override
            public Thread startThread(String name, Runnable task) {
                require(scarce, name);
                Thread thread = LoopExecutor.super.startThread(name, task);
                if (name.startsWith("delay-queue-stop-")) {
                    stopping = thread;
                }
                return thread;
            }

            @Override
            public Loop create(String name, Step step) {
                Loop loop = queue.node.create(name, step);
                return new Loop() {
                    @Override
                    public void start() {
                        require(scarce, name);
                        loop.start();
                    }

                    @Override
                    public void wake() {
                        loop.wake();
                    }
                };
            }
        };
    }

    private void require(String scarce, String name) {
        if (name.startsWith(scarce) && threadsLeft-- <= 0) {
            throw new OutOfMemoryError("unable to create native thread " + name);
        }
    }

    @Test
    void endsTheLoopsThatItHasStartedIfAnotherOneCannotStart() {
        startFailsAndLaterSucceeds("delay-queue-close-", 2);
    }

    @Test
    void endsItsLoopsIfTheMonitorCannotStart() {
        startFailsAndLaterSucceeds("delay-queue-monitor-", 0);
    }

    @Test
    void endsItsLoopsIfTheLoopOfTheJobsCannotStart() {
        startFailsAndLaterSucceeds("delay-queue-jobs", 0);
    }

    @Test
    void canBeStoppedAfterAStartThatCouldNotEndItsLoops() {
        ListenerContainer container = withoutThreadForItsStop();

        Thread.currentThread().interrupt();
        container.stop();

        assertThat(Thread.interrupted()).isTrue();
        queue.time.advanceUntil(Duration.ofMinutes(1), "its loops end", container::hasEnded);
        await().until(() -> !container.isRunning());
    }

    @Test
    void canBeStartedAfterAStartThatCouldNotEndItsLoops() {
        ListenerContainer container = withoutThreadForItsStop();

        // With the interrupt it does not wait for loops whose time this thread moves.
        Thread.currentThread().interrupt();
        container.start();

        assertThat(Thread.interrupted()).isTrue();
        // It then starts again by itself, so its loops may already run again at a check whether they have ended.
        await().until(() -> {
            queue.time.advance(Duration.ofSeconds(1));
            return !Objects.requireNonNull(stopping).isAlive();
        });
        container.start();
        queue.send("m", Duration.ZERO);
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(queue.runIds()).containsExactly("m");
        queue.stop(container);
    }

    /** With limits it starts again, by a thread for its stop; otherwise it starts the loop of the new shard. */
    @ParameterizedTest
    @ValueSource(strings = {"delay-queue-stop-", "delay-queue-close-"})
    void goesOnIfItsTopicGrowsAndThereIsNoThread(String scarce) {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(ListenerContainer.class);
        logger.addAppender(log);
        DelayQueueEngine engine = engine(scarce);
        ListenerContainer container = scarce.equals("delay-queue-stop-")
                ? startLimited(engine)
                : queue.start(engine, listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(5));
        threadsLeft = 0;
        engine.admin().growShards(TOPIC, 2);
        queue.time.advance(Duration.ofMinutes(2));
        assertThat(threadsLeft).as("0, less the attempts").isLessThan(-1);
        queue.send("meanwhile", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(queue.runIds()).containsExactly("meanwhile");
        assertThat(log.list).isEmpty();

        threadsLeft = Integer.MAX_VALUE;
        awaitBothShards(engine);
        assertThat(log.list).hasSize(1);
        logger.detachAppender(log);
        queue.stop(container);
    }

    @ParameterizedTest
    @ValueSource(strings = {"delay-queue-close-", "delay-queue-monitor-", "delay-queue-"})
    void triesToStartAgainUntilThereAreThreads(String scarce) {
        DelayQueueEngine engine = engine(scarce);
        ListenerContainer container = startLimited(engine);
        // For the stop, if its thread counts.
        threadsLeft = scarce.equals("delay-queue-") ? 1 : 0;
        failToStartAgain(engine);

        threadsLeft = Integer.MAX_VALUE;
        wakeups.release();
        awaitBothShards(engine);
        await().until(() -> !Objects.requireNonNull(stopping).isAlive());
        queue.stop(container);
    }

    @Test
    void triesToStartAgainUntilItIsStopped() {
        DelayQueueEngine engine = engine("delay-queue-monitor-");
        ListenerContainer container = startLimited(engine);
        threadsLeft = 0;
        failToStartAgain(engine);

        container.stop();
        threadsLeft = Integer.MAX_VALUE;
        wakeups.release();
        await().until(() -> !Objects.requireNonNull(stopping).isAlive());

        assertThat(container.isRunning()).isFalse();
    }

    /** It has limits, so it starts again when its topic grows. */
    private ListenerContainer startLimited(DelayQueueEngine engine) {
        ListenerContainer container = queue.start(
                engine,
                listener().limits(FlowLimits.of(FlowLimits.Rate.of(100, Duration.ofSeconds(1)))),
                message -> {});
        queue.time.advance(Duration.ofSeconds(5));
        return container;
    }

    private void failToStartAgain(DelayQueueEngine engine) {
        engine.admin().growShards(TOPIC, 2);
        for (int pauses = 0; pauses < 3; pauses++) {
            wakeups.release(pauses == 0 ? 0 : 1);
            await().until(() -> {
                queue.time.advance(Duration.ofSeconds(1));
                return sleeps.tryAcquire();
            });
        }
    }

    private void awaitBothShards(DelayQueueEngine engine) {
        await().until(() -> {
            engine.template().send(TOPIC, "x", Duration.ZERO);
            queue.time.advance(Duration.ofSeconds(30));
            return IntStream.range(0, 2)
                    .mapToObj(shard -> queue.memory.stats(new ShardKey(TOPIC, shard)))
                    .allMatch(shard -> shard.counters().acknowledged() > 0);
        });
    }

    @Test
    void deliversTheEventsThatHaveWaitedForAThread() {
        DelayQueueEngine engine = engine("delay-queue-events");
        ListenerContainer container =
                queue.start(engine, listener().retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
                    throw new IllegalStateException("no");
                });
        threadsLeft = 0;
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.stats().dead()).isEqualTo(1);
        assertThat(queue.events(DelayQueueEvent.Died.class)).isEmpty();

        threadsLeft = Integer.MAX_VALUE;
        queue.send("b", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.events(DelayQueueEvent.Died.class))
                .extracting(DelayQueueEvent.Died::id)
                .containsExactly("a", "b");
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).isEmpty();
        queue.stop(container);
    }

    @Test
    void joinsTheOtherNodesAfterAJoinThatGotNoThread() {
        DelayQueueEngine engine = engine("delay-queue-heartbeat");
        threadsLeft = 0;
        assertThatThrownBy(engine::join).isInstanceOf(OutOfMemoryError.class);

        threadsLeft = Integer.MAX_VALUE;
        engine.join();
        queue.time.advance(Duration.ofSeconds(30));

        assertThat(engine.fleet().nodes()).hasSize(1);
    }

    @Test
    void startsTheRelayOfTheOutboxAfterAStartThatGotNoThread() {
        TestTransactions transactions = new TestTransactions();
        InMemorySendOutbox.Tables tables =
                new InMemorySendOutbox.Tables(() -> queue.time.now().toEpochMilli());
        DelayQueueEngine engine = queue.builder(queue.node, queue.memory)
                .loops(loops("delay-queue-outbox"))
                .transactions(transactions)
                .sendPhase(SendPhase.OUTBOX)
                .outbox(new InMemorySendOutbox(tables, transactions), Duration.ofSeconds(30))
                .build();
        OutboxRelay relay = (OutboxRelay) Objects.requireNonNull(engine.outbox());
        threadsLeft = 0;
        assertThatThrownBy(relay::start).isInstanceOf(OutOfMemoryError.class);

        threadsLeft = Integer.MAX_VALUE;
        relay.start();
        transactions.begin();
        engine.template().send(OutgoingMessage.of(TOPIC, "x").after(Duration.ofHours(1)));
        transactions.commit();
        queue.time.advance(Duration.ofMinutes(1));

        assertThat(queue.stats().waiting()).isEqualTo(1);
        relay.beginStop();
    }

    private ListenerContainer withoutThreadForItsStop() {
        queue.memory.declare(TOPIC, 4);
        ListenerContainer container = container(engine("delay-queue-"));
        threadsLeft = 2;
        assertThatThrownBy(container::start)
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessageContaining("delay-queue-close-")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .singleElement()
                        .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                        .hasMessageContaining("delay-queue-stop-"));
        threadsLeft = Integer.MAX_VALUE;
        return container;
    }

    private DelayQueueEngine engine(String scarce) {
        return queue.builder(queue.node, queue.memory).loops(loops(scarce)).build();
    }

    private ListenerContainer container(DelayQueueEngine engine) {
        return engine.<String>container(
                listener().maxLeaseExpirations(7).build(),
                message -> queue.runs.add(new TestQueue.Run(queue.time.now(), message.id(), "", 1)));
    }

    private void startFailsAndLaterSucceeds(String scarce, int threads) {
        queue.memory.declare(TOPIC, 4);
        DelayQueueEngine engine = engine(scarce);
        ListenerContainer container = container(engine);
        threadsLeft = threads;

        assertThatThrownBy(container::start).isInstanceOf(OutOfMemoryError.class);

        await().until(() -> {
            queue.time.advance(Duration.ofSeconds(1));
            return !container.isRunning();
        });
        for (int i = 0; i < 40; i++) {
            queue.send("m" + i, Duration.ZERO);
        }
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(queue.runs).isEmpty();

        threadsLeft = Integer.MAX_VALUE;
        queue.stop(queue.start(engine, listener().maxLeaseExpirations(8), message -> {}));
        container.start();
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(container.isRunning()).isTrue();
        assertThat(queue.runIds()).hasSize(40);
        queue.stop(container);
    }
}
