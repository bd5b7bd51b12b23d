package io.easykit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.QueryTimeoutException;

/**
 * Makes calls over a driver that blocks, on threads of its own, and waits for each no longer than the command timeout.
 *
 * <p>A driver that blocks has a timeout for each of its steps: for a connection of the pool, to connect, for each reply of the
 * handshake, for the reply, and again for a second attempt. Their sum is several times the command timeout. The thread of a call that
 * was given up goes through these steps; its caller does not wait for it.
 */
final class BoundedCalls {

    /** Maximum number of threads, and so of calls at a time, including those that were given up. Further ones wait. */
    private static final int THREADS = 128;

    /** Factor of the time limit until a call has succeeded: a new JVM loads classes and connects. */
    private static final int FIRST_CALL_FACTOR = 4;

    private static final long IDLE_SECONDS = 30;

    private final Duration timeout;
    private final Waiting waiting = new Waiting();
    private final ThreadPoolExecutor threads;
    private volatile boolean everSucceeded;

    BoundedCalls(Duration timeout) {
        this(timeout, THREADS, new Daemons());
    }

    /** @param most maximum number of threads */
    BoundedCalls(Duration timeout, int most, ThreadFactory factory) {
        this.timeout = timeout;
        this.threads = new ThreadPoolExecutor(1, most, IDLE_SECONDS, TimeUnit.SECONDS, waiting, factory);
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Makes a call and waits for it. If the thread is interrupted, the wait goes on, as that for a socket would.
     *
     * @param call must call {@link Turn#begin} when it has a connection, before it sends anything
     * @throws NotConnectedException if there was no connection in time, or no thread; nothing is sent
     * @throws QueryTimeoutException if there was no reply in time
     */
    <T extends @Nullable Object> T call(Function<Turn, T> call) {
        Turn turn = new Turn();
        CompletableFuture<T> reply = new CompletableFuture<>();
        execute(() -> {
            if (turn.isGivenUp()) {
                return;
            }
            try {
                reply.complete(call.apply(turn));
            } catch (Throwable failure) {
                reply.completeExceptionally(failure);
            }
        });
        Duration most = everSucceeded ? timeout : timeout.multipliedBy(FIRST_CALL_FACTOR);
        try {
            T value = CallerWait.UNINTERRUPTIBLE.get(reply, most);
            everSucceeded = true;
            return value;
        } catch (TimeoutException late) {
            throw turn.giveUp()
                    ? new NotConnectedException("No connection to Redis within " + most, late)
                    : new QueryTimeoutException("No reply within " + most, late);
        } catch (Exception failure) {
            throw rethrown(CallFailures.unwrapped(failure));
        }
    }

    private void execute(Runnable task) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException | OutOfMemoryError noThread) {
            if (threads.isShutdown()) {
                throw new NotConnectedException("The connections to Redis are closed", noThread);
            }
            if (threads.getPoolSize() == 0) {
                // Callers go on without Redis, as in an outage.
                throw new NotConnectedException("No thread could be started for a call to Redis", noThread);
            }
            waiting.put(task);
        }
    }

    /** Ends the threads when their calls have ended. */
    void close() {
        threads.shutdown();
    }

    private static RuntimeException rethrown(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException known ? known : new IllegalStateException(failure);
    }

    /** Whether a call may still send. */
    static final class Turn {

        private enum State {
            WAITING,
            BEGUN,
            GIVEN_UP
        }

        private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

        /** @throws NotConnectedException if the caller has given up */
        void begin() {
            if (!state.compareAndSet(State.WAITING, State.BEGUN)) {
                throw new NotConnectedException("No connection to Redis in time", null);
            }
        }

        private boolean giveUp() {
            return state.compareAndSet(State.WAITING, State.GIVEN_UP);
        }

        private boolean isGivenUp() {
            return state.get() == State.GIVEN_UP;
        }
    }

    /**
     * The calls that wait for a thread. The pool adds a thread when its queue refuses a task. So this queue accepts a task only if an
     * idle thread takes it. A task that the pool has rejected, because it can add no thread, is put into the queue.
     */
    private static final class Waiting extends LinkedTransferQueue<Runnable> {

        private static final long serialVersionUID = 1;

        @Override
        public boolean offer(Runnable task) {
            return tryTransfer(task);
        }
    }

    private static final class Daemons implements ThreadFactory {

        private final AtomicInteger count = new AtomicInteger();

        @Override
        public Thread newThread(Runnable work) {
            // Reused, so without the InheritableThreadLocals of the first caller.
            return DetachedThread.of("easykit-redis-call-" + count.incrementAndGet(), work);
        }
    }
}
