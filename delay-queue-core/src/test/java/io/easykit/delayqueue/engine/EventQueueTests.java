package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class EventQueueTests {

    private final SimulatedTime time = new SimulatedTime();
    private final List<DelayQueueEvent> told = new ArrayList<>();
    private final EventQueue queue = new EventQueue(
            new Events(
                    List.of(() -> List.of(new DelayQueueListener() {
                        @Override
                        public void onEvent(DelayQueueEvent event) {
                            told.add(event);
                        }
                    })),
                    new RepeatedLines(System::nanoTime)),
            scarce(time.node()));
    private int threadsLeft = 1;

    private LoopExecutor scarce(LoopExecutor loops) {
        return new LoopExecutor() {
            @Override
            public long nanos() {
                return loops.nanos();
            }

            @Override
            public void sleep(long nanos) throws InterruptedException {
                loops.sleep(nanos);
            }

            @Override
            public Loop create(String name, Step step) {
                Loop loop = loops.create(name, step);
                return new Loop() {
                    @Override
                    public void start() {
                        if (threadsLeft-- <= 0) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
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

    private static DelayQueueEvent event(int i) {
        return new DelayQueueEvent.LeaseLost("orders", "close", "m" + i);
    }

    /** As code leaves it behind that cancels a task which the calling thread runs. */
    @Test
    void anInterruptThatAListenerLeavesBehindReachesNoOtherEvent() throws InterruptedException {
        List<Boolean> interrupted = new CopyOnWriteArrayList<>();
        CountDownLatch both = new CountDownLatch(2);
        EventQueue onThreads = new EventQueue(
                new Events(
                        List.of(() -> List.of(new DelayQueueListener() {
                            @Override
                            public void onEvent(DelayQueueEvent event) {
                                interrupted.add(Thread.currentThread().isInterrupted());
                                Thread.currentThread().interrupt();
                                both.countDown();
                            }
                        })),
                        new RepeatedLines(System::nanoTime)),
                LoopExecutor.THREADS);

        onThreads.emit(event(1));
        onThreads.emit(event(2));

        assertThat(both.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(interrupted).containsExactly(false, false);
    }

    @Test
    void deliversOnAnotherThreadInOrder() {
        List<DelayQueueEvent> all =
                IntStream.range(0, 100).mapToObj(EventQueueTests::event).toList();
        all.forEach(queue::emit);
        assertThat(told).isEmpty();

        time.advance(Duration.ofMillis(1));
        assertThat(told).isEqualTo(all);
    }

    @Test
    void isBoundedAndGoesOnAfterAnOverflow() {
        IntStream.range(0, EventQueue.MOST + 500)
                .mapToObj(EventQueueTests::event)
                .forEach(queue::emit);
        time.advance(Duration.ofMillis(1));
        assertThat(told).hasSize(EventQueue.MOST);

        queue.emit(event(-1));
        time.advance(Duration.ofMillis(1));
        assertThat(told).hasSize(EventQueue.MOST + 1);
    }

    /** The store counts them as reported, so no node would report them again. */
    @Test
    void dropsNoAlerts() {
        DelayQueueEvent raised = new DelayQueueEvent.AlertRaised("orders", Kind.DEAD, 7, 5);
        DelayQueueEvent resolved = new DelayQueueEvent.AlertResolved("orders", Kind.DUE);
        IntStream.range(0, EventQueue.MOST + 1).mapToObj(EventQueueTests::event).forEach(queue::emit);
        queue.emit(raised);
        queue.emit(event(-1));
        queue.emit(resolved);
        time.advance(Duration.ofMillis(1));

        assertThat(told).hasSize(EventQueue.MOST + 2).endsWith(raised, resolved);
    }

    /** The listeners are not slow then, so the log does not say that they are. */
    @Test
    void goesOnAfterAnOverflowWithoutAThread() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(EventQueue.class);
        logger.addAppender(log);
        threadsLeft = 0;
        IntStream.range(0, EventQueue.MOST + 500)
                .mapToObj(EventQueueTests::event)
                .forEach(queue::emit);
        threadsLeft = 1;
        queue.emit(event(-1));
        time.advance(Duration.ofMillis(1));
        logger.detachAppender(log);

        assertThat(told).hasSize(EventQueue.MOST);
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .noneMatch(line -> line.contains("too slow"))
                .last()
                .asString()
                .startsWith("501 events were not delivered");
    }

    @Test
    void deliversWhatWaitsBeforeItEndsAndNothingAfterwards() {
        queue.emit(event(1));
        queue.close();
        queue.emit(event(2));
        time.advance(Duration.ofMillis(1));

        assertThat(told).containsExactly(event(1));
    }
}
