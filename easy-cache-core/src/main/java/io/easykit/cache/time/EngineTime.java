package io.easykit.cache.time;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The engine's own clock, its pauses, and the threads of its rounds. Never decides whether a value is valid. A test replaces
 * it by virtual time.
 */
public interface EngineTime {

    /** The time of the JVM. */
    EngineTime SYSTEM = new EngineTime() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void pause(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }
    };

    /** A clock that only moves forward, in nanoseconds. */
    long nanoTime();

    /** Waits on the calling thread. */
    void pause(long nanos) throws InterruptedException;

    /**
     * Waits for a result.
     *
     * @throws TimeoutException if there is none within the time
     */
    default <T> T await(CompletableFuture<T> result, long nanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        return result.get(nanos, TimeUnit.NANOSECONDS);
    }

    /** A number from 0 to 1, which spreads the TTLs of values and the pauses of pollers. */
    default double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    /** A thread for the rounds of a worker. */
    default Scheduler newScheduler(String threadName) {
        return new ThreadScheduler(threadName);
    }

    /** Executor of refreshes, in place of any other one; empty if the time has none. */
    default Optional<Executor> background() {
        return Optional.empty();
    }

    /** Runs tasks, one after the other. Rejects them after its stop, by {@link RejectedExecutionException}. */
    interface Scheduler extends Executor {

        /** Runs a task once. */
        void schedule(Runnable task, long delayNanos);

        /** Runs a task that never throws at once, and again some time after each end. */
        void repeat(Runnable task, long delayNanos);

        /** Drops the tasks that have not begun. One that runs goes on. */
        void stop();

        /** The same, and interrupts the task that runs. */
        void stopNow();

        /**
         * Waits for the end of the task that runs.
         *
         * @return false if it did not end within the time
         */
        boolean awaitStop(long nanos) throws InterruptedException;

        /**
         * Drops the tasks that have not begun, and waits for the one that runs: to interrupt it inside an embedded database can
         * close that. Interrupts it if it does not end within the time, or this thread is interrupted.
         *
         * @return whether it has ended
         */
        default boolean stopWithin(long nanos) {
            stop();
            boolean ended = false;
            try {
                ended = awaitStop(nanos);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            if (!ended) {
                stopNow();
            }
            return ended;
        }
    }
}
