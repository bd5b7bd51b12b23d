package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.store.Delivery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the handler for messages that were claimed. Those without a permit, and those that no worker takes, are released. */
final class ExecutionStarter {

    private static final Logger log = LoggerFactory.getLogger(ExecutionStarter.class);

    /** Pause after a worker has refused a message. */
    private static final long PAUSE_AFTER_REFUSAL = TimeUnit.SECONDS.toNanos(1);

    private final ContainerContext container;
    private final ShardContext context;
    private final LeaseRenewer leases;
    private final InFlightMessage.SettlementSink sink;
    private final Function<Delivery, Duration> lateness;
    private final PrefetchedRuns prefetched = new PrefetchedRuns();
    private int used;
    private volatile long refusedUntil;

    /**
     * @param sink     receives the messages that are settled
     * @param lateness of a delivery now
     */
    ExecutionStarter(
            ContainerContext container,
            ShardContext context,
            LeaseRenewer leases,
            InFlightMessage.SettlementSink sink,
            Function<Delivery, Duration> lateness) {
        this.container = container;
        this.context = context;
        this.leases = leases;
        this.sink = sink;
        this.lateness = lateness;
        this.refusedUntil = context.nanos();
    }

    /** Number of permits that the last start has used, also if it failed half way. */
    int used() {
        return used;
    }

    /** False for a while after a worker has refused a message. */
    boolean mayStart() {
        return context.nanos() - refusedUntil >= 0;
    }

    /** Runs that were prefetched. */
    PrefetchedRuns prefetched() {
        return prefetched;
    }

    /** Called before a claim, which may fail. */
    void reset() {
        used = 0;
    }

    /** Starts as many runs as there are permits. */
    void start(MessageClaimer.ClaimResult claimed, ConcurrencyLimiter.Permits permits) {
        ListenerEndpoint endpoint = context.endpoint();
        long leaseEnd = claimed.requestedAt() + context.leaseNanos();
        List<InFlightMessage> messages = new ArrayList<>(claimed.deliveries().size());
        try {
            for (Delivery delivery : claimed.deliveries()) {
                messages.add(new InFlightMessage(endpoint, delivery, leaseEnd, sink));
            }
            leases.add(messages, claimed.requestedAt());
            for (int from = 0; from < messages.size() && used < permits.all(); from += endpoint.batchSize()) {
                int to = Math.min(messages.size(), from + endpoint.batchSize());
                start(List.copyOf(messages.subList(from, to)), used >= permits.free());
            }
        } finally {
            // There was no permit, or an error. Their leases would be renewed without a run.
            for (InFlightMessage message : messages) {
                if (message.execution() == null) {
                    message.release();
                }
            }
        }
    }

    private void start(List<InFlightMessage> batch, boolean isPrefetched) {
        ConcurrencyLimiter limiter = container.limiter();
        boolean poisonSuspect = batch.stream().anyMatch(message -> message.delivery.leaseExpirations() > 0);
        MessageExecution run = new MessageExecution(
                container.runs(),
                batch,
                message -> lateness.apply(message.delivery),
                nanos -> limiter.end(nanos, poisonSuspect));
        used++;
        if (poisonSuspect) {
            limiter.beginPoisonSuspect();
        }
        try {
            container.workers().execute(run, refusal -> handBack(run, refusal));
        } catch (Throwable e) {
            // Such as too little memory. Otherwise its permit would be lost, and its leases renewed until the stop.
            handBack(run, e);
        }
        if (isPrefetched) {
            prefetched.add(run, context.nanos());
        }
    }

    /** Refused, or no thread could be made. On any thread. */
    private void handBack(MessageExecution run, Throwable refusal) {
        try {
            // First: the end of the run wakes the loop, which must not claim it again at once.
            refusedUntil = context.nanos() + PAUSE_AFTER_REFUSAL;
        } finally {
            run.cancelIfNotStarted();
        }
        container
                .engine()
                .lines()
                .warn(
                        log,
                        context.shard().topic(),
                        "No worker takes a message of {}; it is handed back: {}",
                        context.shard(),
                        ErrorText.lineOf(refusal));
    }
}
