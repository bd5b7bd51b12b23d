package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Delivery while the system makes no more threads. */
class ScarceThreadTests {

    private final TestQueue queue = new TestQueue();
    private String scarce = "none";

    private void require(String name) {
        if (name.startsWith(scarce)) {
            // An OutOfMemoryError would end the JVM of the tests.
            throw new Error("unable to create native thread " + name);
        }
    }

    @Test
    void deliversWithoutASubscriptionAndSubscribesLater() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(ShardReadiness.class);
        logger.addAppender(log);
        queue.line.plan(method -> method.equals("subscribe") ? Fault.NO_THREAD : Fault.NONE);
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofMillis(500));
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.runIds()).containsExactly("a");
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(queue.line.takeCalls()).filteredOn("subscribe"::equals).hasSizeBetween(10, 13);
        logger.detachAppender(log);
        assertThat(log.list)
                .filteredOn(event -> event.getLevel() == Level.WARN)
                .singleElement()
                .extracting(ILoggingEvent::getFormattedMessage)
                .asString()
                .contains(TOPIC, "unable to create native thread");

        queue.line.heal();
        queue.time.advance(Duration.ofMillis(2_500));
        assertThat(queue.line.takeCalls()).filteredOn("subscribe"::equals).hasSize(1);
        queue.send("b", Duration.ZERO);
        queue.time.advance(Duration.ofMillis(1));
        assertThat(queue.runIds()).containsExactly("a", "b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"subscribe", "claim", "fail"})
    void stopsAlthoughEachCallFailsForLackOfAThread(String call) {
        ListenerContainer container = queue.start(listener(), message -> {
            throw new IllegalStateException("no");
        });
        queue.line.plan(method -> method.equals(call) ? Fault.NO_THREAD : Fault.NONE);
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(2));

        container.beginStop();
        queue.time.advanceUntil(Duration.ofSeconds(5), "the container stops", container::hasEnded);
    }

    /** The store did not answer at the start, so the container has begun with one shard. */
    @Test
    void deliversFromTheShardsThatItHasIfOthersGetNoThread() {
        queue.line.away();
        DelayQueueEngine engine = queue.builder(queue.node, queue.line.asStore())
                .loops(new Node(queue.node))
                .build();
        queue.start(engine, listener(), message -> {});
        scarce = "delay-queue-close-";
        queue.memory.declare(TOPIC, 2);
        queue.line.heal();
        for (int i = 0; i < 40; i++) {
            engine.template().send(TOPIC, "x", Duration.ZERO);
        }
        queue.time.advance(Duration.ofSeconds(5));
        int first = queue.runs.size();
        assertThat(first).isBetween(1, 39);

        scarce = "none";
        queue.time.advance(Duration.ofSeconds(70));
        assertThat(queue.runs).hasSize(40);
    }

    @Test
    void releasesAMessageWhoseHandOverFails() {
        AtomicInteger errors = new AtomicInteger(1);
        SimulatedTime[] time = new SimulatedTime[1];
        TestQueue failing = new TestQueue(builder -> builder.pools(endpoint -> new Workers() {
            @Override
            public boolean queues() {
                return false;
            }

            @Override
            public void execute(Runnable run, Consumer<Throwable> onRefusal) {
                if (errors.getAndDecrement() > 0) {
                    throw new Error("Java heap space");
                }
                time[0].node().after(Duration.ZERO, run);
            }

            @Override
            public void stop() {}
        }));
        time[0] = failing.time;
        failing.start(listener(), message -> {});
        failing.send("a", Duration.ZERO);
        failing.time.advance(Duration.ofSeconds(3));

        assertThat(failing.runIds()).containsExactly("a");
        assertThat(failing.stats().counters().leaseExpirations()).isZero();
    }

    /** Loops of a simulated process. */
    private final class Node implements LoopExecutor {

        private final LoopExecutor node;

        Node(LoopExecutor node) {
            this.node = node;
        }

        @Override
        public long nanos() {
            return node.nanos();
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            node.sleep(nanos);
        }

        @Override
        public Loop create(String name, Step step) {
            Loop loop = node.create(name, step);
            return new Loop() {
                @Override
                public void start() {
                    require(name);
                    loop.start();
                }

                @Override
                public void wake() {
                    loop.wake();
                }
            };
        }
    }
}
