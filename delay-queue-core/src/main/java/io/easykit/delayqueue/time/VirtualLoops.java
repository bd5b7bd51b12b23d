package io.easykit.delayqueue.time;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Loops whose steps run in virtual time. */
final class VirtualLoops implements LoopExecutor {

    /** Of virtual time, while a thread waits for loops that are not done at this instant, such as for a store that is away. */
    private static final Duration PACE = Duration.ofMillis(100);

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private final VirtualTime time;
    private final Executor steps;

    VirtualLoops(VirtualTime time, Executor steps) {
        this.time = time;
        this.steps = steps;
    }

    @Override
    public long nanos() {
        return time.nanos();
    }

    /** Runs the tasks of this time, as nobody else advances it. */
    @Override
    public void sleep(long duration) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        time.sleepUntil(time.nanos() + untilWholeMillisecond(duration));
    }

    /**
     * Rounds a time up, so that it ends at a whole millisecond. Due times are whole milliseconds, so a loop that stays between two of
     * them after a random back-off would be late for each.
     */
    private long untilWholeMillisecond(long duration) {
        return duration == 0 ? 0 : duration + Math.floorMod(-(time.nanos() + duration), MILLI);
    }

    /** Runs the loops on the waiting thread, unless another thread advances the time. */
    @Override
    public boolean await(CountDownLatch latch, Duration most) throws InterruptedException {
        long deadline = System.nanoTime() + most.toNanos();
        Duration pace = Duration.ZERO;
        while (latch.getCount() > 0 && deadline - System.nanoTime() > 0) {
            if (time.tryRun(pace)) {
                pace = PACE;
            }
            if (latch.await(1, TimeUnit.MILLISECONDS)) {
                return true;
            }
        }
        return latch.getCount() == 0;
    }

    /** Runs loops that were told to end on the calling thread first, which may be the one that advances the time. */
    @Override
    public Thread startThread(String name, Runnable task) {
        time.tryRun(Duration.ZERO);
        return LoopExecutor.super.startThread(name, task);
    }

    @Override
    public Loop create(String name, Step step) {
        return new VirtualLoop(name, step);
    }

    private final class VirtualLoop implements Loop {

        private final String name;
        private final Step step;
        private final Runnable stepIfDue = this::runIfDue;

        // Guarded by the time.
        private @Nullable Object next;
        private boolean running;
        private boolean woken;
        private boolean ended;

        VirtualLoop(String name, Step step) {
            this.name = name;
            this.step = step;
        }

        @Override
        public void start() {
            synchronized (time) {
                next = plan(0);
            }
            time.addLoop(name, stepIfDue);
        }

        private void runIfDue() {
            boolean isDue;
            synchronized (time) {
                isDue = time.takeDue(next);
            }
            if (isDue) {
                steps.execute(this::run);
            }
        }

        private Object plan(long delay) {
            return time.plan(untilWholeMillisecond(delay), () -> steps.execute(this::run));
        }

        /** May come from any thread. */
        @Override
        public void wake() {
            synchronized (time) {
                if (running) {
                    woken = true;
                } else if (!ended && time.cancel(next)) {
                    next = plan(0);
                }
            }
        }

        private void run() {
            synchronized (time) {
                running = true;
                woken = false;
            }
            long rest = TimeUnit.SECONDS.toNanos(1); // after an error, as loops on threads do
            try {
                rest = step.run();
            } finally {
                end(rest);
            }
        }

        /** In one piece, so that a wake-up from another thread is not lost in between. */
        private void end(long rest) {
            synchronized (time) {
                running = false;
                if (rest == END) {
                    ended = true;
                    time.removeLoop(name, stepIfDue);
                } else {
                    next = plan(woken ? 0 : rest);
                }
            }
        }
    }
}
