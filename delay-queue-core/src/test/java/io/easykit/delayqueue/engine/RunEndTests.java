package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.store.Claimed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** An error at the end of a run, or at the start of one, keeps no other message in flight. */
class RunEndTests {

    private static final int BATCH = 10;

    private final List<String> told = new ArrayList<>();
    private final TestQueue queue = new TestQueue(builder -> builder.listener(new DelayQueueListener() {
        @Override
        public void onFailed(DelayQueueEvent.Failed event) {
            told.add(event.id());
            throw new IllegalStateException(event.error().getMessage());
        }
    }));

    private static final class Unprintable extends IllegalStateException {

        @Override
        public String getMessage() {
            throw new UnsupportedOperationException();
        }
    }

    private ListenerContainer startBatches(DelayQueueEngine engine, MessageHandler.Batch<String> handler) {
        ListenerContainer container = engine.batchContainer(
                listener()
                        .batchSize(BATCH)
                        .retry(RetryPolicy.fixed(1, Duration.ZERO))
                        .build(),
                handler);
        container.start();
        return container;
    }

    private void sendBatch() {
        IntStream.range(0, BATCH).forEach(i -> queue.send("m" + i, Duration.ZERO));
    }

    @ParameterizedTest
    @ValueSource(strings = {"INFO", "DEBUG"})
    void settlesAllMessagesAfterAnExceptionWhoseOwnMethodsThrow(String level) {
        Logger logger = (Logger) LoggerFactory.getLogger(ShardEvents.class);
        Level before = logger.getLevel();
        logger.setLevel(Level.toLevel(level));
        try {
            sendBatch();
            ListenerContainer container = startBatches(queue.engine, messages -> {
                throw new Unprintable();
            });
            queue.time.advance(Duration.ofSeconds(1));

            assertThat(told).hasSize(BATCH);
            assertThat(queue.stats().dead()).isEqualTo(BATCH);
            assertThat(queue.stats().inFlight()).isZero();
            queue.stop(container);
        } finally {
            logger.setLevel(before);
        }
    }

    @Test
    void reportsEachRunThatFailsAndIsRepeated() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(ShardEvents.class);
        logger.addAppender(log);
        try {
            queue.send("close-7", Duration.ZERO);
            ListenerContainer container = queue.engine.container(
                    listener()
                            .retry(RetryPolicy.fixed(2, Duration.ofSeconds(5)))
                            .build(),
                    message -> {
                        throw new IllegalStateException("closed");
                    });
            container.start();
            queue.time.advance(Duration.ofSeconds(10));
            queue.stop(container);
        } finally {
            logger.detachAppender(log);
        }

        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(line -> line.contains("close-7"))
                .satisfiesExactly(
                        first -> assertThat(first)
                                .contains(
                                        "Run 1 of message close-7",
                                        "is repeated in 5s",
                                        "IllegalStateException: closed"),
                        last -> assertThat(last).contains("is dead"));
    }

    @Test
    void settlesAllMessagesIfTheListenersOfEventsCannotBeLoaded() {
        DelayQueueEngine engine = queue.builder(queue.node, queue.memory)
                .listeners(() -> {
                    throw new NoClassDefFoundError("Meter");
                })
                .build();
        sendBatch();
        ListenerContainer container = startBatches(engine, messages -> {});
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.stats().counters().acknowledged()).isEqualTo(BATCH);
        queue.stop(container);
    }

    @Test
    void settlesTheOtherMessagesAfterAnErrorAtOne() {
        FailingClock clock = new FailingClock(queue.node);
        DelayQueueEngine engine =
                queue.builder(queue.node, queue.memory).loops(clock).build();
        sendBatch();
        ListenerContainer container = startBatches(engine, messages -> clock.failOnce());
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.stats().counters().acknowledged()).isEqualTo(BATCH);
        assertThat(container.busy()).isZero();
        queue.send("later", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(BATCH + 1);
        queue.stop(container);
    }

    /** The error comes when the reply is there. The same claim is repeated, and brings the same message. */
    @Test
    void repeatsAClaimAfterAnErrorInItsLastSteps() {
        FailingClock clock = new FailingClock(queue.node);
        AtomicBoolean failed = new AtomicBoolean();
        queue.line.changeReplies(reply -> {
            if (reply instanceof Claimed claimed
                    && !claimed.deliveries().isEmpty()
                    && failed.compareAndSet(false, true)) {
                clock.failOnce();
            }
            return reply;
        });
        DelayQueueEngine engine =
                queue.builder(queue.node, queue.line.asStore()).loops(clock).build();
        queue.send("m", Duration.ZERO);
        ListenerContainer container = queue.start(engine, listener(), message -> {});
        advanceThroughTheError();

        assertThat(failed).isTrue();
        assertThat(queue.runIds()).containsExactly("m");
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        queue.stop(container);
    }

    /** The executor refuses the first run, and the error comes while that is handled. */
    @Test
    void releasesTheMessagesOfAClaimThatCouldNotBeStarted() {
        DelayQueueEngine engine = refusingOnce(1);
        IntStream.range(0, 3).forEach(i -> queue.send("m" + i, Duration.ZERO));
        ListenerContainer container = queue.start(engine, listener().concurrency(3), message -> {});
        advanceThroughTheError();

        assertThat(queue.runIds()).containsExactlyInAnyOrder("m0", "m1", "m2");
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(3);
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        queue.stop(container);
    }

    /** The executor refuses the first run, and so many looks at the clock fail while that is handled. */
    private DelayQueueEngine refusingOnce(int errors) {
        FailingClock clock = new FailingClock(queue.node);
        AtomicInteger refusals = new AtomicInteger(1);
        return queue.builder(queue.node, queue.memory)
                .loops(clock)
                .workers(task -> {
                    if (refusals.getAndDecrement() > 0) {
                        clock.fail(errors);
                        throw new IllegalStateException("full");
                    }
                    queue.node.after(Duration.ZERO, task);
                })
                .build();
    }

    private void advanceThroughTheError() {
        try {
            queue.time.advance(Duration.ofMillis(500));
        } catch (InternalError expected) {
            assertThat(expected).hasMessage(FailingClock.ERROR);
        }
        queue.time.advance(Duration.ofMinutes(2));
    }

    /** The second error comes while the first message of the batch is released. */
    @Test
    void releasesAllMessagesOfABatchAfterAnErrorAtOne() {
        DelayQueueEngine engine = refusingOnce(2);
        sendBatch();
        ListenerContainer container = startBatches(engine, messages -> {});
        advanceThroughTheError();

        assertThat(queue.stats().counters().acknowledged()).isEqualTo(BATCH);
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        assertThat(container.busy()).isZero();
        queue.stop(container);
    }

    @Test
    void releasesTheMessagesOfAClaimThatAreRefusedByAnExceptionWhoseOwnMethodsThrow() {
        AtomicInteger refusals = new AtomicInteger(2);
        List<TestQueue> self = new ArrayList<>();
        TestQueue full = new TestQueue(builder -> builder.workers(task -> {
            if (refusals.getAndDecrement() > 0) {
                throw new Unprintable();
            }
            self.get(0).node.after(Duration.ZERO, task);
        }));
        self.add(full);
        IntStream.range(0, 3).forEach(i -> full.send("m" + i, Duration.ZERO));
        full.start(listener().concurrency(3), message -> {});
        full.time.advance(Duration.ofMinutes(2));

        assertThat(full.runIds()).containsExactlyInAnyOrder("m0", "m1", "m2");
        assertThat(full.stats().counters().leaseExpirations()).isZero();
    }

    /** As CallerRunsPolicy does, once through a wrapper that catches the exceptions of tasks. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void releasesWhatItsExecutorWouldRunOnTheThreadOfTheLoop(boolean catches) {
        AtomicBoolean full = new AtomicBoolean(true);
        List<TestQueue> self = new ArrayList<>();
        TestQueue onCaller = new TestQueue(builder -> builder.workers(task -> {
            if (!full.get()) {
                self.get(0).node.after(Duration.ZERO, task);
                return;
            }
            try {
                task.run();
            } catch (RuntimeException e) {
                if (!catches) {
                    throw e;
                }
            }
        }));
        self.add(onCaller);
        onCaller.start(listener(), (DelayMessage<String> message) -> {});
        onCaller.send("a", Duration.ZERO);

        onCaller.time.advance(Duration.ofMillis(500));
        assertThat(onCaller.runs).isEmpty();
        assertThat(onCaller.stats().inFlight()).isZero();
        assertThat(Objects.requireNonNull(onCaller.history("a")).releases()).isEqualTo(1);

        full.set(false);
        onCaller.time.advance(Duration.ofSeconds(2));
        assertThat(onCaller.runIds()).containsExactly("a");
        assertThat(onCaller.stats().counters().acknowledged()).isEqualTo(1);
    }
}
