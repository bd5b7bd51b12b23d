package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The relay of the outbox, stopped while the database does not reply, and started again. */
class OutboxRestartTests {

    private final List<LoopExecutor.Step> steps = new ArrayList<>();
    private boolean lacksThreads;

    private final LoopExecutor loops = new ThreadLoops() {
        @Override
        public Loop create(String name, Step step) {
            return new Loop() {
                @Override
                public void start() {
                    if (lacksThreads) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    steps.add(step);
                }

                @Override
                public void wake() {}
            };
        }
    };

    private final TestTransactions transactions = new TestTransactions();
    private final InMemorySendOutbox outbox =
            new InMemorySendOutbox(new InMemorySendOutbox.Tables(System::currentTimeMillis), transactions);
    private final TestQueue queue = new TestQueue(builder -> builder.transactions(transactions)
            .loops(loops)
            .sendPhase(SendPhase.OUTBOX)
            .outbox(outbox, Duration.ofSeconds(30)));

    @Test
    void aStartWaitsForTheLoopBeforeAlsoIfOneInBetweenGotNoThread() throws Exception {
        OutboxRelay relay = (OutboxRelay) Objects.requireNonNull(queue.engine.outbox());
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch replies = new CountDownLatch(1);
        outbox.before = call -> {
            reached.countDown();
            TestQueue.awaitLatch(replies);
        };
        relay.start();
        Thread loop = new Thread(() -> steps.get(0).run());
        loop.start();
        reached.await();
        relay.beginStop();

        lacksThreads = true;
        assertThatThrownBy(relay::start).isInstanceOf(OutOfMemoryError.class);
        lacksThreads = false;
        relay.start();
        outbox.takeCalls();
        long unused = steps.get(1).run();

        assertThat(outbox.takeCalls()).as("while the first loop waits").isEmpty();
        replies.countDown();
        loop.join();
    }
}
