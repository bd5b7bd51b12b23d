package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.ListenerEndpoint;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Starts that fail half way, because the system makes no more threads. */
class ContainerStartTests {

    private final TestQueue queue = new TestQueue();
    private int threadsLeft = Integer.MAX_VALUE;

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
            public Loop create(String name, Step step) {
                Loop loop = queue.node.create(name, step);
                return new Loop() {
                    @Override
                    public void start() {
                        if (name.startsWith(scarce) && threadsLeft-- <= 0) {
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

    private void startFailsAndLaterSucceeds(String scarce, int threads) {
        queue.memory.declare(TOPIC, 4);
        DelayQueueEngine engine =
                queue.builder(queue.node, queue.memory).loops(loops(scarce)).build();
        ListenerEndpoint endpoint = listener().maxLeaseExpirations(7).build();
        ListenerContainer container = engine.<String>container(
                endpoint, message -> queue.runs.add(new TestQueue.Run(queue.time.now(), message.id(), "", 1)));
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
