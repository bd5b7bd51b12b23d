package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the outbox to partitions that recover, before their readers use them.
 *
 * <p>A pass over the outbox runs on the thread of the relay, and serves all partitions that wait when it begins. Between two
 * batches a round of the relay lets a pass in.
 *
 * <p>A partition does not wait long for the database, which may be under load just because Redis was away. The time without
 * progress is limited during a pass only. Before it, the thread may be at work for other partitions, which is no sign of
 * a slow database.
 */
final class OutboxRecovery {

    /** Maximum time that a pass may take for one query, or for the messages of one query in one partition. */
    static final Duration STANDSTILL = Outbox.MAX_DELAY;

    /** Maximum time that a partition waits. */
    static final Duration MAX_WAIT = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(OutboxRecovery.class);
    private static final Duration CHECK_EVERY = Duration.ofMillis(50);

    private final String clusterId;
    private final OutboxDelivery messages;
    private final Ticker ticker;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean atWork;
    private volatile long progressAt;

    OutboxRecovery(String clusterId, OutboxDelivery messages, Ticker ticker) {
        this.clusterId = clusterId;
        this.messages = messages;
        this.ticker = ticker;
        this.progressAt = ticker.nanoTime();
    }

    /**
     * Returns when all messages to a partition are delivered, or when that takes too long.
     *
     * @param here the keys of the partition
     * @param relay runs the passes
     * @param isStopped whether the relay will run no further pass
     * @throws StoreUnavailableException if the partition does not answer, or the relay is stopped
     */
    void deliver(Predicate<CacheKey<?>> here, Executor relay, BooleanSupplier isStopped) {
        Waiting partition = new Waiting(here, ticker.nanoTime());
        waiting.add(partition);
        try {
            relay.execute(this::deliverToWaiting);
            await(partition, isStopped);
        } catch (RejectedExecutionException stopped) {
            throw relayStopped();
        } finally {
            waiting.remove(partition);
        }
    }

    private void await(Waiting partition, BooleanSupplier isStopped) {
        while (true) {
            try {
                partition.done.get(CHECK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException notYet) {
                if (isStopped.getAsBoolean()) {
                    partition.done.cancel(false);
                    throw relayStopped();
                }
                Duration limit = exceeded(partition);
                if (limit != null) {
                    // A pass that has begun goes on: to interrupt it inside an embedded database can close that.
                    goOn("it took longer than " + limit.toMillis() + " ms");
                    return;
                }
            } catch (InterruptedException stop) {
                partition.done.cancel(false);
                Thread.currentThread().interrupt();
                throw StoreUnavailableException.notCalled("Interrupted while the outbox was delivered");
            } catch (ExecutionException failed) {
                if (failed.getCause() instanceof StoreUnavailableException away) {
                    throw away;
                }
                goOn(String.valueOf(failed.getCause()));
                return;
            }
        }
    }

    private @Nullable Duration exceeded(Waiting partition) {
        long now = ticker.nanoTime();
        long waited = now - partition.since;
        if (waited >= MAX_WAIT.toNanos()) {
            return MAX_WAIT;
        }
        return atWork && Math.min(waited, now - progressAt) >= STANDSTILL.toNanos() ? STANDSTILL : null;
    }

    /** How many partitions wait for the next pass. */
    int waiting() {
        return waiting.size();
    }

    private static StoreUnavailableException relayStopped() {
        return StoreUnavailableException.notCalled("The outbox relay was stopped");
    }

    private void goOn(String reason) {
        log.warn(
                "The outbox was not delivered before readers use Redis cluster '{}' again: {}. Until it is, they may get values"
                        + " that other nodes have updated meanwhile. Check the database and the table.",
                clusterId,
                reason);
    }

    /** One pass for all partitions that wait. Never throws. */
    void deliverToWaiting() {
        List<Waiting> partitions = new ArrayList<>();
        for (Waiting next = waiting.poll(); next != null; next = waiting.poll()) {
            partitions.add(next);
        }
        if (partitions.isEmpty()) {
            return;
        }
        progressAt = ticker.nanoTime();
        atWork = true;
        try {
            pass(partitions);
            partitions.forEach(partition -> partition.done.complete(true));
        } catch (Throwable failed) {
            partitions.forEach(partition -> partition.done.completeExceptionally(failed));
        } finally {
            atWork = false;
        }
    }

    private void pass(List<Waiting> partitions) {
        List<Message> some = messages.all("");
        while (!some.isEmpty()) {
            for (Waiting partition : partitions) {
                progressAt = ticker.nanoTime();
                try {
                    messages.deliverBeforeReaders(some, partition.here);
                } catch (StoreUnavailableException away) {
                    partition.done.completeExceptionally(away);
                }
            }
            partitions.removeIf(partition -> partition.done.isDone());
            if (partitions.isEmpty()) {
                return;
            }
            progressAt = ticker.nanoTime();
            some = messages.all(some.get(some.size() - 1).id());
        }
    }

    /** A partition that waits. */
    private static final class Waiting {

        private final Predicate<CacheKey<?>> here;
        private final long since;
        private final CompletableFuture<Boolean> done = new CompletableFuture<>();

        private Waiting(Predicate<CacheKey<?>> here, long since) {
            this.here = here;
            this.since = since;
        }
    }
}
