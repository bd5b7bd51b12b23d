package io.easykit.delayqueue.test;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The parts of a test queue that exist before its engine: time, a store in memory with faults, and a record of the runs. For
 * frameworks that build the engine; others use {@link DelayQueueTester#create()}.
 */
public final class TestQueueParts {

    /** Name of the loop that stores the messages of an outbox. */
    private static final String RELAY = "delay-queue-outbox";

    /** Longer than the effects of an outage and of a step of the clock on a consumer, and the age of cached figures. */
    private static final Duration RECOVERY = Duration.ofMinutes(1);

    private final Instant created = present();
    private final VirtualTime time;
    private final InMemoryQueueStore memory;
    private final ClaimedLeases leases;
    private final StoreFaults faults;
    private final QueueBackend backend;
    private final HandlerRuns runs;
    private final List<VirtualOutbox> outboxes = new CopyOnWriteArrayList<>();

    /** Parts of an engine whose handlers also run while a call of the engine waits. */
    public TestQueueParts() {
        this(() -> false);
    }

    /**
     * Parts of an application's engine.
     *
     * @param inTransaction whether the calling thread has a transaction. While a call of the engine waits within it, no handlers
     *     run
     */
    public TestQueueParts(BooleanSupplier inTransaction) {
        time = new VirtualTime(created, inTransaction);
        memory = new InMemoryQueueStore(time::micros);
        leases = new ClaimedLeases(memory);
        // A commit wakes the relay, which runs before the next call of the store. So that call finds the message.
        faults = new StoreFaults(memory, () -> time.runDue(RELAY), leases);
        backend = faults.faultyStore();
        runs = new HandlerRuns(time::now, faults::begins);
    }

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

    /**
     * The outbox of the engine, with the rows of the given one. Its clock is that of the test, and does not follow
     * {@link VirtualTime#setClock}.
     */
    public SendOutbox outbox(SendOutbox rows) {
        VirtualOutbox outbox =
                new VirtualOutbox(rows, () -> created.toEpochMilli() + TimeUnit.NANOSECONDS.toMillis(time.nanos()));
        outboxes.add(outbox);
        return outbox;
    }

    /** Records the runs of handlers. The engine needs {@link #repeats()} too. */
    public DelayListenerInterceptor recorder() {
        return runs;
    }

    /** Tells the recorder of deliveries that do not reach their handler, because it is idempotent and has handled the message. */
    public DelayQueueListener repeats() {
        return runs.repeats();
    }

    /**
     * The tester of an application's engine, which has these parts. It does not close the engine.
     *
     * @param inTransaction whether a transaction is active on the calling thread
     */
    public DelayQueueTester tester(DelayQueueEngine engine, PayloadCodec codec, BooleanSupplier inTransaction) {
        return new DelayQueueTester(this, codec, engine, inTransaction);
    }

    /** Moves the store's clock to the present time. Time passes if it is behind: consumers take a step ahead for a fail-over. */
    public void startAtPresent() {
        Duration behind = Duration.between(time.now(), present());
        if (behind.isNegative()) {
            time.setClock(present());
        } else {
            time.skip(behind);
        }
    }

    /** A time after which the leases of all messages in flight have ended, also by the clocks of their consumers. */
    Duration longestInFlight() {
        return leases.longestInFlight();
    }

    /**
     * Lets consumers recover from faults and from steps of the clock, and give up messages that were in flight. Then it is the
     * present time.
     *
     * @param lease the longest one of these messages
     */
    void recover(Duration lease) {
        if (lease.compareTo(RECOVERY) > 0) {
            time.skip(lease);
        }
        time.setClock(present().minus(RECOVERY));
        time.advance(RECOVERY);
    }

    StoreFaults faults() {
        return faults;
    }

    HandlerRuns runs() {
        return runs;
    }

    void clear() {
        outboxes.forEach(VirtualOutbox::clear);
        memory.clear();
        leases.clear();
        runs.clear();
    }
}
