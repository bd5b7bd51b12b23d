package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.store.OutboxException;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the outbox to partitions that recover, before their readers use them. Of messages that clear a cache it delivers the
 * entries that they name.
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
    private final GuardedStore store;
    private final Outbox outbox;
    private final OutboxKeys names;

    /** Has a token of its own: preparations of the rounds stay until a second delivery. */
    private final OutboxEntries entries;

    private final Ticker ticker;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean atWork;
    private volatile long progressAt;

    OutboxRecovery(InvalidationDelivery delivery, Outbox outbox, OutboxKeys names, Ticker ticker) {
        this.clusterId = delivery.clusterId();
        this.store = delivery.store();
        this.outbox = outbox;
        this.names = names;
        this.entries = new OutboxEntries(delivery, () -> {});
        this.ticker = ticker;
        this.progressAt = ticker.nanoTime();
    }

    /**
     * Returns when the messages to a partition are delivered, or when that takes too long or the outbox cannot be read. Leaves
     * out keys that clear a cache, and entries that Redis refuses.
     *
     * @param here the keys of the partition
     * @param relay runs the passes
     * @param isStopped whether the relay will run no further pass
     * @throws StoreUnavailableException if the partition does not answer, or the relay is stopped
     */
    void deliver(Predicate<CacheKey<?>> here, Executor relay, BooleanSupplier isStopped) {
        Waiting partition = new Waiting(here, isStopped, ticker.nanoTime());
        waiting.add(partition);
        try {
            relay.execute(this::deliverToWaiting);
            await(partition);
        } catch (RejectedExecutionException stopped) {
            throw relayStopped();
        } finally {
            waiting.remove(partition);
        }
    }

    private void await(Waiting partition) {
        while (true) {
            try {
                var unused = ticker.await(partition.done, CHECK_EVERY.toNanos());
                return;
            } catch (TimeoutException notYet) {
                if (partition.isStopped.getAsBoolean()) {
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
                goOnAfter(failed.getCause());
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

    private void goOnAfter(@Nullable Throwable failure) {
        if (failure instanceof OutboxException) {
            goOn(ErrorText.of(failure));
            return;
        }
        log.error(
                "Delivery from the outbox before readers use Redis '{}' again failed. Until the outbox is delivered, they"
                        + " may get values that other nodes have updated meanwhile. This is a defect: report it with its stack"
                        + " trace.",
                clusterId,
                failure);
    }

    private void goOn(String reason) {
        log.warn(
                "The outbox was not delivered before readers use Redis '{}' again: {}. Until it is, they may get values"
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
        String last = "";
        while (true) {
            endStopped(partitions);
            partitions.removeIf(partition -> partition.done.isDone());
            if (partitions.isEmpty()) {
                return;
            }
            progressAt = ticker.nanoTime();
            List<Message> some = outbox.all(clusterId, last, OutboxDelivery.MESSAGES);
            if (some.isEmpty()) {
                return;
            }
            for (Waiting partition : partitions) {
                progressAt = ticker.nanoTime();
                try {
                    deliverBeforeReaders(some, partition.here);
                } catch (StoreUnavailableException away) {
                    partition.done.completeExceptionally(away);
                }
            }
            last = some.get(some.size() - 1).id();
        }
    }

    /**
     * Delivers messages to the keys of one partition. Notes nothing in the outbox: its reader delivers them as well. Keys that
     * clear a cache are left to it, since each delivery drops all that was loaded meanwhile.
     *
     * @param here the keys of the partition
     * @throws StoreUnavailableException if the partition does not answer, or this thread is interrupted
     */
    private void deliverBeforeReaders(List<Message> some, Predicate<CacheKey<?>> here) {
        List<CacheKey<?>> keys = OutboxEntries.only(names.keysOf(some), key -> !key.isAll() && here.test(key));
        Set<CircuitBreaker> unused = entries.prepare(keys);
        store.byPartition(keys).forEach((breaker, partition) -> {
            OutboxInvalidation result = entries.invalidatePartition(breaker, partition, Set.of());
            log.debug(
                    "Delivered {} entries before readers use them, except {} refused ones and {} others",
                    partition.size(),
                    result.refused().size(),
                    result.leftOut().size());
        });
        OutboxEntries.requireNotInterrupted();
    }

    /** A pass must not outlast the relay: it would be interrupted inside the database. */
    private static void endStopped(List<Waiting> partitions) {
        partitions.stream()
                .filter(partition -> partition.isStopped.getAsBoolean())
                .forEach(partition -> partition.done.completeExceptionally(relayStopped()));
    }

    /** A partition that waits. */
    private static final class Waiting {

        private final Predicate<CacheKey<?>> here;
        private final BooleanSupplier isStopped;
        private final long since;
        private final CompletableFuture<Boolean> done = new CompletableFuture<>();

        private Waiting(Predicate<CacheKey<?>> here, BooleanSupplier isStopped, long since) {
            this.here = here;
            this.isStopped = isStopped;
            this.since = since;
        }
    }
}
