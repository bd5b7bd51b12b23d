package io.easykit.cache.engine;

import io.easykit.cache.Availability.State;
import io.easykit.cache.store.Partitions;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The recovery workers of one cluster, one for each partition. They follow the store when it has other partitions. */
final class RecoveryWorkers {

    private final ClusterAvailability availability;
    private final Supplier<Partitions> store;
    private final Function<CircuitBreaker, RecoveryWorker> newWorker;

    /** In the order of their partitions. */
    private volatile List<RecoveryWorker> workers;

    /** Those of earlier partitions. They run until all others do, so that one is always there to try again what fails. */
    private final List<RecoveryWorker> replaced = new ArrayList<>();

    private boolean started;

    /** @param store returns its present partitions */
    RecoveryWorkers(
            ClusterAvailability availability,
            Supplier<Partitions> store,
            Function<CircuitBreaker, RecoveryWorker> newWorker) {
        this.availability = availability;
        this.store = store;
        this.newWorker = newWorker;
        this.workers = newWorkers();
    }

    private List<RecoveryWorker> newWorkers() {
        return availability.breakers().stream().map(newWorker).toList();
    }

    synchronized void start() {
        started = true;
        workers.forEach(RecoveryWorker::start);
    }

    synchronized void stop() {
        started = false;
        workers.forEach(RecoveryWorker::stop);
        stopReplaced();
    }

    List<RecoveryWorker> all() {
        return workers;
    }

    /**
     * Counts a new connection. Not between new partitions and their workers: the new partitions would miss it, and take older
     * data of the server for current ones. All are counted before the first task, which may find no memory.
     */
    synchronized void onReconnect(@Nullable SocketAddress server) {
        List<RecoveryWorker> reached =
                workers.stream().filter(worker -> worker.isReconnected(server)).toList();
        reached.forEach(RecoveryWorker::lookSoon);
    }

    RecoveryWorker of(CircuitBreaker breaker) {
        return workers.stream()
                .filter(one -> one.breaker() == breaker)
                .findFirst()
                .orElse(workers.get(0));
    }

    /** See {@link ClusterUpkeep#repartition}. Waits until all is well, unless the partitions were not known before. */
    boolean repartition() {
        Partitions present = availability.partitions();
        Partitions next = store.get();
        boolean known = present.count() > 1;
        boolean well = availability.state() == State.AVAILABLE;
        boolean news = next != present && (known || next.count() > 1);
        boolean follows = news && (well || !known) && follow(present, next);
        if (follows) {
            availability.tell(); // without the lock
        }
        startMissing();
        return follows;
    }

    private synchronized boolean follow(Partitions present, Partitions next) {
        if (availability.partitions() != present) {
            return false;
        }
        availability.replace(next);
        replaced.addAll(workers);
        workers = newWorkers();
        return true;
    }

    /** If a thread is missing, each worker that runs tries again at its next round. */
    private synchronized void startMissing() {
        if (started && !replaced.isEmpty()) {
            workers.forEach(RecoveryWorker::start);
            stopReplaced();
        }
    }

    private void stopReplaced() {
        replaced.forEach(RecoveryWorker::stop);
        replaced.clear();
    }
}
