package io.easykit.delayqueue.time;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Time, and loops that work in steps. The engine waits nowhere else, so that a test can move time. */
public interface LoopExecutor {

    /** A step that returns this was the last one. */
    long END = -1;

    /** Time of a loop that has nothing to do: a day. */
    long NEVER = TimeUnit.DAYS.toNanos(1);

    /** Platform threads, one for each loop, so that neither busy handlers nor another loop's slow store can hold it up. */
    LoopExecutor THREADS = new Threads();

    /** A clock that only moves forward, in nanoseconds. */
    long nanos();

    /** Waits on the calling thread, which may be a virtual one. */
    void sleep(long nanos) throws InterruptedException;

    /** Waits on a thread of {@link #startThread}. In real time also if this time is virtual, which only the test moves. */
    default void rest(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanos);
    }

    /** A loop that has not begun. */
    Loop create(String name, Step step);

    /** Runs a task that waits for loops to end. */
    default Thread startThread(String name, Runnable task) {
        Thread thread = DetachedThread.of(name, task);
        thread.start();
        return thread;
    }

    /**
     * Waits for loops to end.
     *
     * @return false if they did not within the time
     */
    default boolean await(CountDownLatch ended, Duration most) throws InterruptedException {
        return ended.await(most.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Does the work that is due now. */
    @FunctionalInterface
    interface Step {

        /** Returns in how many nanoseconds there is more to do unless woken, or {@link #END}. */
        long run();
    }

    /** Runs a step again and again. */
    interface Loop {

        void start();

        /** Has the next step run now, or once more if one is running. */
        void wake();
    }

    /** See {@link #THREADS}. */
    final class Threads implements LoopExecutor {

        private static final Logger log = LoggerFactory.getLogger(LoopExecutor.class);

        private Threads() {}

        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }

        @Override
        public Loop create(String name, Step step) {
            return new ThreadLoop(name, step);
        }

        private static final long TOLD_AGAIN = TimeUnit.MINUTES.toNanos(1);

        private static final class ThreadLoop implements Loop {

            private final Step step;
            private final Thread thread;
            private final AtomicBoolean woken = new AtomicBoolean();
            private String toldError = "";
            private long toldAt;

            ThreadLoop(String name, Step step) {
                this.step = step;
                // It outlives the caller, and starts threads that run handlers: no InheritableThreadLocals.
                this.thread = DetachedThread.of(name, this::run);
            }

            @Override
            public void start() {
                thread.start();
            }

            @Override
            public void wake() {
                if (!woken.getAndSet(true)) {
                    LockSupport.unpark(thread);
                }
            }

            private void run() {
                long rest = 0;
                while (rest != END) {
                    // Calls inside a step may park as well and use up a permit, so the flag decides.
                    if (rest > 0 && !woken.get()) {
                        LockSupport.parkNanos(this, rest);
                    }
                    woken.set(false);
                    rest = step();
                    // Left behind by code of the application. It would keep the thread from resting.
                    var unused = Thread.interrupted();
                }
            }

            private long step() {
                try {
                    return step.run();
                } catch (Throwable e) {
                    tell(e);
                    return TimeUnit.SECONDS.toNanos(1);
                }
            }

            /** A repeated error is logged once a minute only. */
            private void tell(Throwable error) {
                try {
                    long now = System.nanoTime();
                    String text = String.valueOf(error);
                    if (!text.equals(toldError) || now - toldAt >= TOLD_AGAIN) {
                        toldError = text;
                        toldAt = now;
                        log.error("{} continues after an error", thread.getName(), error);
                    }
                } catch (Throwable alsoThat) {
                    // If logging fails for lack of memory, the loop goes on.
                }
            }
        }
    }
}
