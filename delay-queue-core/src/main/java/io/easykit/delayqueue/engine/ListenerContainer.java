package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
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

    /** For the loops to end after the handlers: longer than any of them waits for the store. */
    private static final Duration FAREWELL = Duration.ofSeconds(30);

    /** For slow listeners of events that a loop has found. */
    private static final Duration EVENTS_FAREWELL = Duration.ofSeconds(1);

    private final EngineContext engine;
    private final ListenerEndpoint endpoint;
    private final MessageExecution.HandlerContext runs;
    private final ReentrantLock lifecycle = new ReentrantLock();
    private volatile boolean running;
    private volatile boolean paused;
    private volatile @Nullable ShardConsumers consumers;

    // Guarded by the lifecycle.
    private @Nullable Thread stopping;
    private boolean halted;
    private boolean startsAgain;
    private @Nullable TopicMonitor monitor;
    private @Nullable Workers workers;
    private @Nullable ConcurrencyLimiter limiter;

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
     * Begins to deliver. A store that is away, or refuses (a wrong password), is no error: delivery begins when it answers. While the container stops, this
     * waits for the end of the stop; called by a handler of this container, or by an interrupted thread, it returns at once,
     * and the container starts when it has stopped.
     *
     * @throws TopicConflictException when the topic has another number of shards than configured, or a running listener
     *                                of this topic has other settings of what belongs to the topic: maxLeaseExpirations, leaseExpiredDelay, deadKeyPolicy,
     *                                deadLetterRetention, limits, alerts
     */
    public void start() {
        TopicSettingsGuard.requirePlaces(endpoint, engine.topics());
        Thread ending = startOrStopping();
        while (ending != null) {
            if (runs.running().isWithin() || !join(ending)) {
                startAfterStop();
                return;
            }
            ending = startOrStopping();
        }
    }

    /** Starts unless it runs; while a stop is under way, returns its thread instead. */
    private @Nullable Thread startOrStopping() {
        lifecycle.lock();
        try {
            if (stopping == null && halted) {
                // A stop that got no thread to wait for the loops.
                beginStopping();
            }
            if (stopping == null && !running) {
                List<ShardKey> shards =
                        engine.topics().shardsOrAssumed(endpoint.topic()).keys();
                engine.settingsGuard().add(endpoint);
                running = true;
                try {
                    begin(shards);
                    engine.listeners().add(this);
                    engine.jobs().begin();
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
     * completes in the background; the handler has the same time to end as the others.
     */
    public void stop() {
        Thread ending = beginStopping();
        if (ending != null && !runs.running().isWithin()) {
            join(ending);
        }
    }

    /** Stops several at the same time, each as {@link #stop()} does: all are told to stop before one waits for its end. */
    public static void stopAll(Collection<ListenerContainer> containers) {
        containers.forEach(ListenerContainer::beginStop);
        containers.forEach(ListenerContainer::beginStopping);
        containers.forEach(ListenerContainer::stop);
    }

    private @Nullable Thread beginStopping() {
        lifecycle.lock();
        try {
            startsAgain = false;
            if (running && stopping == null) {
                halted = true;
                long deadline = beginStop();
                stopping =
                        engine.loops().startThread("delay-queue-stop-" + endpoint.id(), () -> completeStop(deadline));
            }
            return stopping;
        } finally {
            lifecycle.unlock();
        }
    }

    private void completeStop(long deadline) {
        try {
            ShardConsumers ending = consumers;
            if (ending != null
                    && !engine.loops()
                            .await(ending.ended(), endpoint.stopTimeout().plus(FAREWELL))) {
                log.warn(
                        "Listener '{}' did not end in time; its messages run again after their leases",
                        LogText.of(endpoint.id()));
            }
            if (limiter != null) {
                // Handlers that have settled early, and still work.
                limiter.awaitAll(deadline - engine.loops().nanos());
            }
            engine.loopEvents().awaitDelivered(EVENTS_FAREWELL.toNanos());
        } catch (InterruptedException e) {
            // This thread ends now in any case.
            Thread.currentThread().interrupt();
        } finally {
            finishStop();
        }
    }

    /** False if the calling thread is interrupted. */
    private static boolean join(Thread thread) {
        try {
            thread.join();
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
        ShardConsumers current = consumers;
        if (current != null) {
            current.wake();
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

    /** The first half of a stop, which does not wait. Returns until when handlers may run on. */
    long beginStop() {
        long deadline = engine.loops().nanos() + endpoint.stopTimeout().toNanos();
        ShardConsumers current = consumers;
        if (current != null) {
            current.stop(deadline);
        }
        if (monitor != null) {
            monitor.stop();
        }
        return deadline;
    }

    /** Whether all loops have ended after {@link #beginStop}. */
    boolean hasEnded() {
        ShardConsumers current = consumers;
        return current == null || current.ended().getCount() == 0;
    }

    /** The second half of a stop, after the loops have ended. */
    void finishStop() {
        lifecycle.lock();
        try {
            if (workers != null) {
                workers.stop();
            }
            engine.settingsGuard().remove(endpoint);
            engine.listeners().remove(this);
            running = false;
            halted = false;
            consumers = null;
            stopping = null;
            if (startsAgain) {
                startsAgain = false;
                startOrStopping();
            }
        } catch (RuntimeException | Error e) {
            log.warn(
                    "Listener '{}' could not be started again after its stop: {}",
                    LogText.of(endpoint.id()),
                    LogText.of(e.toString()));
        } finally {
            lifecycle.unlock();
        }
    }

    /** Claims from added shards; starts anew if there are fewer, or the limits of the topic have to be shared among more. */
    private void requireShards(int kept) {
        ShardConsumers current = consumers;
        if (current == null || kept == current.count()) {
            return;
        }
        lifecycle.lock();
        try {
            int used = current.count();
            if (!running || stopping != null || kept == used) {
                return;
            }
            boolean goesOn = kept > used && endpoint.limits().isNone();
            log.info(
                    "Listener '{}' {} {} shards, the count that the store has kept, instead of {}",
                    LogText.of(endpoint.id()),
                    goesOn ? "goes on with" : "starts again with",
                    kept,
                    used);
            if (goesOn) {
                List<ShardKey> all = TopicShards.keys(endpoint.topic(), kept);
                Objects.requireNonNull(monitor).watch(all);
                current.start(all.subList(used, kept));
            } else {
                beginStopping();
                startsAgain = true;
            }
        } finally {
            lifecycle.unlock();
        }
    }

    private void begin(List<ShardKey> shards) {
        Workers runners = engine.workers().create(endpoint, engine.loops());
        ConcurrencyLimiter created =
                new ConcurrencyLimiter(endpoint.concurrency(), mostPrefetched(runners), engine.loops()::nanos);
        Lenders lenders = new Lenders(engine.store(), endpoint, shards.size(), engine.loops()::nanos);
        ContainerContext shared = new ContainerContext(
                engine, runs, created, runners, this::isPaused, shards.size(), lenders, this::requireShards);
        TopicMonitor monitoring = new TopicMonitor(engine, endpoint, shards, this::requireShards);
        ShardConsumers starting = new ShardConsumers(shared, OwnerNames.next(engine.node(), endpoint.id()));
        workers = runners;
        limiter = created;
        monitor = monitoring;
        consumers = starting;
        starting.start(shards);
        monitoring.start();
    }

    /**
     * Maximum number of calls to prefetch. 0 if the workers do not queue runs; if messages are acknowledged manually, because a run
     * may last longer than the call of its handler; if one lease expiration makes a dead letter, because a prefetched message would
     * die with this node; and if the topic has limits, because a prefetched message would use up its share of them.
     */
    private int mostPrefetched(Workers runners) {
        boolean never = !runners.queues()
                || endpoint.ackMode() == AckMode.MANUAL
                || endpoint.maxLeaseExpirations() == 1
                || !endpoint.limits().isNone();
        return never ? 0 : QueueStore.MAX_BATCH / endpoint.batchSize();
    }
}
