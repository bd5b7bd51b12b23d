package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.awaitLatch;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Listeners of events and error handlers are a part of the run, on the thread that settles. */
class StopFromListenerTests {

    private final AtomicReference<@Nullable ListenerContainer> self = new AtomicReference<>();
    private final CountDownLatch hasStopped = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicBoolean held = new AtomicBoolean();
    private Class<? extends DelayQueueEvent> stopsAt = DelayQueueEvent.Delivered.class;
    private boolean stops = true;

    private final DelayQueueEngine engine = DelayQueueEngine.builder(
                    new InMemoryQueueStore(() -> System.currentTimeMillis() * 1000))
            .codec(new TestQueue.TextCodec())
            .listener(new DelayQueueListener() {
                @Override
                public void onEvent(DelayQueueEvent event) {
                    if (stopsAt.isInstance(event)) {
                        stopOrHold();
                    }
                }
            })
            .build();

    enum End {
        COMPLETED(DelayQueueEvent.Completed.class),
        FAILED(DelayQueueEvent.Failed.class),
        DISCARDED(DelayQueueEvent.Discarded.class);

        final Class<? extends DelayQueueEvent> event;

        End(Class<? extends DelayQueueEvent> event) {
            this.event = event;
        }

        ErrorHandler errors() {
            return (message, error) -> this == DISCARDED ? ErrorAction.discard() : ErrorAction.byDefault();
        }
    }

    @AfterEach
    void close() {
        release.countDown();
        engine.close();
    }

    private void stopOrHold() {
        ListenerContainer container = self.get();
        if (stops && container != null) {
            container.stop();
            hasStopped.countDown();
        } else if (!held.getAndSet(true)) {
            awaitLatch(release);
        }
    }

    /** The stop timeout is longer than a test waits. */
    private static ListenerEndpoint.Builder endpoint() {
        return listener().stopTimeout(Duration.ofMinutes(1)).retry(RetryPolicy.fixed(2, Duration.ofHours(1)));
    }

    private void run(ListenerEndpoint.Builder endpoint, MessageHandler<String> handler) {
        ListenerContainer container = engine.container(endpoint.build(), handler);
        self.set(container);
        container.start();
        engine.template().send(OutgoingMessage.of(TOPIC, "x"));
    }

    private void stopReturnsAndCompletes(End end) {
        awaitLatch(hasStopped);
        ListenerContainer container = self.get();
        await().until(() -> container != null && !container.isRunning());
        assertThat(engine.stats(TOPIC).inFlight()).isZero();
        assertThat(engine.stats(TOPIC).waiting()).isEqualTo(end == End.FAILED ? 1 : 0);
    }

    @ParameterizedTest
    @EnumSource
    void doesNotWaitForItsOwnRun(End end) {
        stopsAt = end.event;
        run(endpoint().errorHandler(end.errors()), message -> {
            if (end != End.COMPLETED) {
                throw new IllegalStateException("no");
            }
        });

        stopReturnsAndCompletes(end);
    }

    @ParameterizedTest
    @EnumSource
    void doesNotWaitForTheMessageThatItsThreadSettles(End end) {
        stopsAt = end.event;
        run(endpoint().ackMode(AckMode.MANUAL).errorHandler(end.errors()), message -> onAnotherThread(message, end));

        stopReturnsAndCompletes(end);
    }

    private static void onAnotherThread(DelayMessage<String> message, End end) {
        Thread thread = new Thread(() -> {
            if (end == End.COMPLETED) {
                message.acknowledgment().acknowledge();
            } else {
                message.acknowledgment().fail(new IllegalStateException("no"));
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Test
    void doesNotWaitForTheDecisionOfAnErrorHandlerOnAnotherThread() {
        run(
                endpoint().ackMode(AckMode.MANUAL).errorHandler((message, error) -> {
                    stopOrHold();
                    return ErrorAction.discard();
                }),
                message -> onAnotherThread(message, End.DISCARDED));

        stopReturnsAndCompletes(End.DISCARDED);
    }

    @Test
    void resultsReachTheStoreWhileAListenerOfTheirEventIsSlow() {
        stops = false;
        stopsAt = DelayQueueEvent.Completed.class;
        run(endpoint().concurrency(2), message -> {});
        await().untilTrue(held);
        engine.template().send(OutgoingMessage.of(TOPIC, "y"));

        await().until(() -> engine.stats(TOPIC).counters().acknowledged() == 2);
        assertThat(release.getCount()).isEqualTo(1);
    }
}
