package io.easykit.delayqueue.test;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.time.VirtualTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.BooleanSupplier;

/**
 * The parts of a test queue that exist before its engine: time, a store in memory with faults, and a record of the runs. For
 * frameworks that build the engine; others use {@link DelayQueueTester#create()}.
 */
public final class TestQueueParts {

    private final VirtualTime time = new VirtualTime(present());
    private final InMemoryQueueStore memory = new InMemoryQueueStore(time::micros);
    private final StoreFaults faults = new StoreFaults(memory);
    private final QueueBackend backend = faults.faultyStore();
    private final HandlerRuns runs = new HandlerRuns(time::now, faults::begins);

    /** A whole millisecond, so that due times are exact. */
    private static Instant present() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    public VirtualTime time() {
        return time;
    }

    /** The store of the engine. */
    public QueueBackend backend() {
        return backend;
    }

    /** Records the runs of handlers. */
    public DelayListenerInterceptor recorder() {
        return runs;
    }

    /**
     * The tester of an application's engine, which has these parts. It does not close the engine.
     *
     * @param inTransaction whether a transaction is active on the calling thread
     */
    public DelayQueueTester tester(DelayQueueEngine engine, PayloadCodec codec, BooleanSupplier inTransaction) {
        return new DelayQueueTester(this, codec, engine, inTransaction);
    }

    /** Sets the store's clock to the present time. */
    public void startAtPresent() {
        time.setClock(present());
    }

    StoreFaults faults() {
        return faults;
    }

    HandlerRuns runs() {
        return runs;
    }

    void clear() {
        memory.clear();
        runs.clear();
    }
}
