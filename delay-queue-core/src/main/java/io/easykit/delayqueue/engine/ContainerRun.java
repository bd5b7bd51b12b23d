package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts of a container that run from one start to the next stop: consumers, monitor, workers and permits. */
final class ContainerRun {

    private static final Logger log = LoggerFactory.getLogger(ContainerRun.class);

    /** For the loops to end after the handlers: longer than any of them waits for the store. */
    private static final Duration FAREWELL = Duration.ofSeconds(30);

    /** For slow listeners of events that a loop has found. */
    private static final Duration EVENTS_FAREWELL = Duration.ofSeconds(1);

    private final EngineContext engine;
    private final ListenerEndpoint endpoint;
    private final Workers workers;
    private final ConcurrencyLimiter limiter;
    private final TopicMonitor monitor;
    private final ShardConsumers consumers;
    private final List<ShardKey> shards;
    private volatile @Nullable Long handlersUntil;

    /**
     * Creates the parts, which do nothing yet.
     *
     * @param isPaused whether the container must claim nothing for now
     * @param shardsKept receives the number of shards that the store keeps
     */
    ContainerRun(
            EngineContext engine,
            MessageExecution.HandlerContext runs,
            BooleanSupplier isPaused,
            List<ShardKey> shards,
            IntConsumer shardsKept) {
        this.engine = engine;
        this.endpoint = runs.endpoint();
        this.shards = shards;
        this.workers = engine.workers().create(endpoint, engine.loops());
        this.limiter = new ConcurrencyLimiter(endpoint.concurrency(), mostPrefetched(), engine.loops()::nanos);
        Lenders lenders = new Lenders(engine.store(), endpoint, shards.size(), engine.loops()::nanos);
        ContainerContext shared =
                new ContainerContext(engine, runs, limiter, workers, isPaused, shards.size(), lenders, shardsKept);
        this.monitor = new TopicMonitor(engine, endpoint, shards, shardsKept);
        this.consumers = new ShardConsumers(shared, OwnerNames.next(engine.node(), endpoint.id()));
    }

    /** Begins to deliver. After an error some of the parts may run: stop them. */
    void start() {
        consumers.start(shards);
        monitor.start();
    }

    /** Number of shards that messages are claimed from. */
    int shards() {
        return consumers.count();
    }

    /** Claims from added shards as well. After an error, repeat it. */
    void growTo(List<ShardKey> all) {
        monitor.watch(all);
        consumers.start(all.subList(consumers.count(), all.size()));
    }

    void wake() {
        consumers.wake();
    }

    /**
     * Signals the loops to end; handlers have the stop timeout to end by themselves. May be repeated, which gives them no more
     * time.
     */
    synchronized void stop() {
        Long until = handlersUntil;
        if (until == null) {
            until = engine.loops().nanos() + endpoint.stopTimeout().toNanos();
            handlersUntil = until;
        }
        consumers.stop(until);
        monitor.stop();
    }

    /** Whether it was stopped; its loops may still run. */
    boolean isStopping() {
        return handlersUntil != null;
    }

    /** Whether all loops have ended after a stop. */
    boolean hasEnded() {
        return consumers.ended().getCount() == 0;
    }

    /** Waits for the loops and the handlers after a stop. */
    void awaitEnd() throws InterruptedException {
        if (!engine.loops().await(consumers.ended(), endpoint.stopTimeout().plus(FAREWELL))) {
            log.warn(
                    "Listener '{}' did not end in time; its messages run again after their leases",
                    LogText.of(endpoint.id()));
        }
        // Handlers that have settled early, and still work.
        Long until = handlersUntil;
        limiter.awaitAll(until == null ? 0 : until - engine.loops().nanos());
        engine.loopEvents().awaitDelivered(EVENTS_FAREWELL.toNanos());
    }

    /** Ends the workers, after the loops have ended. */
    void close() {
        workers.stop();
    }

    /**
     * Maximum number of calls to prefetch. 0 if the workers do not queue runs; if messages are acknowledged manually, because a run
     * may last longer than the call of its handler; if one lease expiration makes a dead letter, because a prefetched message would
     * die with this node; and if the topic has limits, because a prefetched message would use up its share of them.
     */
    private int mostPrefetched() {
        boolean never = !workers.queues()
                || endpoint.ackMode() == AckMode.MANUAL
                || endpoint.maxLeaseExpirations() == 1
                || !endpoint.limits().isNone();
        return never ? 0 : QueueStore.MAX_BATCH / endpoint.batchSize();
    }
}
