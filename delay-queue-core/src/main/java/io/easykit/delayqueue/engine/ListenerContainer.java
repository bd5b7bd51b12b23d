package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one listener: claims due messages from all shards of its topic, about as many as there are free permits, and passes
 * them to the handler.
 *
 * <p>Start and stop may be repeated and called from any thread. A stop has two halves: it signals the loops to end, and a
 * thread of its own waits for them and cleans up. So it always completes, also if the caller is interrupted, or is a handler
 * of this container, which cannot wait for its own end.
 */
public final class ListenerContainer implements RunningListeners.Member {

    private static final Logger log = LoggerFactory.getLogger(ListenerContainer.class);

    private final EngineContext engine;
    private final ListenerEndpoint endpoint;
    private final MessageExecution.HandlerContext runs;
    private final ReentrantLock lifecycle = new ReentrantLock();
    private volatile boolean running;
    private volatile boolean paused;
    private volatile @Nullable ContainerRun current;

    // Guarded by the lifecycle.
    private @Nullable CountDownLatch stopping;
    private boolean startsAgain;

    ListenerContainer(EngineContext engine, ListenerEndpoint endpoint, MessageHandler.Batch<Object> handler) {
        this.engine = engine;
        this.endpoint = endpoint;
        this.runs = new MessageExecution.HandlerContext(
                endpoint,
                handler,
                engine.codec(),
                engine.events(),
                engine.loops()::nanos,
                new NewerFrames(endpoint),
                new ErrorActions(endpoint, engine.lines()),
                new RunningExecutions());
    }

    @Override
    public ListenerEndpoint endpoint() {
        return endpoint;
    }

    /**
     * Begins to deliver. A store that is away, or refuses (a wrong password), is no error: delivery begins when it answers. While
     * the container stops, this waits for the end of the stop; called by a handler of this container, or by an interrupted thread, it
     * returns at once, and the container starts when it has stopped. If that start fails, it is repeated until a stop.
     *
     * @throws TopicConflictException when the topic has another number of shards than configured, or a running listener of this
     *     topic has other settings of what belongs to the topic: maxLeaseExpirations, leaseExpiredDelay, deadKeyPolicy,
     *     deadLetterRetention, idempotencyStore, limits, alerts
     */
    public void start() {
        TopicSettingsGuard.requirePlaces(endpoint, engine.topics());
        CountDownLatch ending = startOrStopping();
        while (ending != null) {
            if (runs.running().isWithin() || !await(ending)) {
                startAfterStop();
                return;
            }
            ending = startOrStopping();
        }
    }

    /** Starts unless it runs; while a stop is under way, returns its end instead. */
    private @Nullable CountDownLatch startOrStopping() {
        lifecycle.lock();
        try {
            ContainerRun started = current;
            if (running && stopping == null && (started == null || started.isStopping())) {
                // A stop that got no thread to wait for the loops.
                beginStopping();
            }
            if (stopping == null && !running) {
                try {
                    startParts();
                } catch (Throwable e) {
                    // For example, a thread could not be created. The parts that were started must stop.
                    try {
                        beginStopping();
                    } catch (Throwable second) {
                        e.addSuppressed(second);
                    }
                    throw e;
                }
            }
            return stopping;
        } finally {
            lifecycle.unlock();
        }
    }

    /** After an error some of the parts may run if {@link #running} is set. */
    private void startParts() {
        List<ShardKey> shards =
                engine.topics().shardsOrAssumed(endpoint.topic()).keys();
        engine.settingsGuard().add(endpoint);
        running = true;
        ContainerRun starting = new ContainerRun(engine, runs, this::isPaused, shards, this::requireShards);
        current = starting;
        starting.start();
        engine.listeners().add(this);
        engine.jobs().begin();
        startsAgain = false;
    }

    private void startAfterStop() {
        lifecycle.lock();
        try {
            startsAgain = startOrStopping() != null;
        } finally {
            lifecycle.unlock();
        }
    }

    /**
     * Ends delivery: claims no more, hands back messages that have not begun, waits for running handlers up to the stop
     * timeout of the endpoint, then interrupts them and gives up their messages, which costs each of them one lease
     * expiration. Returns when all messages are settled, or when the store has not answered for two seconds. Called by a
     * handler of this container, by a listener of an event of its runs, or by an interrupted thread, it returns at once and
     * completes in the background; the handler has the same time to end as the others. If no thread can be started for that, it
     * throws the error. Delivery ends all the same, and the next stop or start completes this one.
     */
    public void stop() {
        boolean mayWait = !runs.running().isWithin();
        ContainerRun ending = current;
        try {
            CountDownLatch end = beginStopping();
            if (end != null && mayWait) {
                await(end);
            }
        } catch (Throwable noThread) {
            if (!mayWait || Thread.currentThread().isInterrupted()) {
                throw noThread;
            }
            completeStop(ending);
        }
    }

    /**
     * Stops several at the same time, each as {@link #stop()} does: all are told to stop before one waits for its end. An error of
     * one is thrown after the others have stopped.
     */
    public static void stopAll(Collection<ListenerContainer> containers) {
        containers.forEach(ListenerContainer::beginStop);
        StopTogether.run(containers, ListenerContainer::beginStopping, ListenerContainer::stop);
    }

    /** Throws if no thread can be started that waits for the loops, which end all the same. May be repeated. */
    private @Nullable CountDownLatch beginStopping() {
        lifecycle.lock();
        try {
            startsAgain = false;
            if (running && stopping == null) {
                beginStop();
                stopping = startStopThread();
            }
            return stopping;
        } finally {
            lifecycle.unlock();
        }
    }

    private CountDownLatch startStopThread() {
        ContainerRun ending = current;
        engine.loops().startThread("delay-queue-stop-" + endpoint.id(), () -> {
            completeStop(ending);
            RepeatedStart.run(engine.loops(), this::hasStartedAgain);
        });
        return new CountDownLatch(1);
    }

    private void completeStop(@Nullable ContainerRun ending) {
        try {
            if (ending != null) {
                ending.awaitEnd();
            }
        } catch (InterruptedException e) {
            // This thread must not wait.
            Thread.currentThread().interrupt();
        } finally {
            finishStop(ending);
        }
    }

    /** Also true if it no longer has to. */
    private boolean hasStartedAgain() {
        ContainerRun failed;
        lifecycle.lock();
        try {
            if (startsAgain && !running && stopping == null) {
                startParts();
            }
            return true;
        } catch (Throwable e) {
            log.warn(
                    "Listener '{}' could not be started again after its stop. It is tried again: {}",
                    LogText.of(endpoint.id()),
                    ErrorText.lineOf(e));
            if (!running) {
                return false;
            }
            stopping = new CountDownLatch(1);
            beginStop();
            failed = current;
        } finally {
            lifecycle.unlock();
        }
        completeStop(failed);
        return false;
    }

    /** False if the calling thread is interrupted. */
    private static boolean await(CountDownLatch ending) {
        try {
            ending.await();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    public boolean isRunning() {
        return running;
    }

    /** Claims no more until resumed; claimed messages still run. Affects this node only. Stop and start do not end a pause. */
    @Override
    public void pause() {
        paused = true;
    }

    /** Ends a pause. */
    @Override
    public void resume() {
        paused = false;
        ContainerRun waiting = current;
        if (waiting != null) {
            waiting.wake();
        }
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    /** Calls of the handler that run now on this node. */
    @Override
    public int busy() {
        return runs.running().count();
    }

    /** How long the longest of the running calls has lasted; zero if none runs. A handler that hangs makes it grow. */
    @Override
    public Duration oldestRun() {
        return Duration.ofNanos(runs.running().oldest(engine.loops().nanos()));
    }

    /** The first half of a stop, which does not wait. May be repeated. */
    void beginStop() {
        ContainerRun ending = current;
        if (ending != null) {
            ending.stop();
        }
    }

    /** Whether all loops have ended after {@link #beginStop}. */
    boolean hasEnded() {
        ContainerRun ending = current;
        return ending == null || ending.hasEnded();
    }

    /** The second half of a stop, after the loops have ended. */
    void finishStop() {
        finishStop(current);
    }

    private void finishStop(@Nullable ContainerRun ended) {
        lifecycle.lock();
        try {
            if (ended != current) {
                // Another thread has finished this stop.
                return;
            }
            if (ended != null) {
                ended.close();
            }
            engine.settingsGuard().remove(endpoint);
            engine.listeners().remove(this);
            running = false;
            current = null;
            if (stopping != null) {
                stopping.countDown();
                stopping = null;
            }
        } finally {
            lifecycle.unlock();
        }
    }

    /** Claims from added shards; starts anew if there are fewer, or the limits of the topic have to be shared among more. */
    private void requireShards(int kept) {
        ContainerRun claiming = current;
        if (claiming == null || kept == claiming.shards()) {
            return;
        }
        lifecycle.lock();
        try {
            int used = claiming.shards();
            if (!running || stopping != null || kept == used) {
                return;
            }
            boolean goesOn = kept > used && endpoint.limits().isNone();
            // The threads first: if one cannot be started, delivery goes on until the count is read again.
            if (goesOn) {
                claiming.growTo(TopicShards.keys(endpoint.topic(), kept));
            } else {
                stopping = startStopThread();
                startsAgain = true;
                beginStop();
            }
            log.info(
                    "Listener '{}' {} {} shards, the count that the store has kept, instead of {}",
                    LogText.of(endpoint.id()),
                    goesOn ? "goes on with" : "starts again with",
                    kept,
                    used);
        } finally {
            lifecycle.unlock();
        }
    }
}
