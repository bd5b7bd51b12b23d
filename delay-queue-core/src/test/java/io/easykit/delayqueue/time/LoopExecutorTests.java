package io.easykit.delayqueue.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LoopExecutorTests {

    @Test
    void goesOnAfterAnError() throws InterruptedException {
        AtomicInteger steps = new AtomicInteger();
        CountDownLatch ended = new CountDownLatch(1);
        LoopExecutor.Loop loop = LoopExecutor.THREADS.create("test", () -> {
            if (steps.incrementAndGet() == 1) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            ended.countDown();
            return LoopExecutor.END;
        });
        loop.start();

        assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(steps).hasValue(2);
    }

    /** Else the thread could not rest any more. */
    @Test
    void leavesNoInterruptOfAStepToTheNextOne() throws InterruptedException {
        List<Boolean> interrupted = new CopyOnWriteArrayList<>();
        CountDownLatch ended = new CountDownLatch(1);
        LoopExecutor.Loop loop = LoopExecutor.THREADS.create("test", () -> {
            interrupted.add(Thread.currentThread().isInterrupted());
            if (interrupted.size() == 1) {
                Thread.currentThread().interrupt();
                return 0;
            }
            ended.countDown();
            return LoopExecutor.END;
        });
        loop.start();

        assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(interrupted).containsExactly(false, false);
    }
}
