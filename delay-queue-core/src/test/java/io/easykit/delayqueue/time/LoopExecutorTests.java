package io.easykit.delayqueue.time;

import static org.assertj.core.api.Assertions.assertThat;

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
}
