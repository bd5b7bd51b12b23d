package io.easykit.delayqueue.test;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.time.VirtualTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * A delay queue in memory whose time a test moves. {@link #advance} runs the handlers of due messages on the calling thread
 * before it returns. Besides, they run while a send outside of a transaction waits for a store that is away, and while a
 * listener stops.
 *
 * <pre>{@code
 * DelayQueueTester queue = DelayQueueTester.create();
 * queue.listen("order-close", CloseOrder.class, message -> orders.close(message.payload()));
 *
 * queue.template().send("order-close", new CloseOrder(42), Duration.ofMinutes(30));
 * assertThat(queue).hasWaiting("order-close").dueIn(Duration.ofMinutes(30));
 *
 * queue.advance(Duration.ofMinutes(30));
 * assertThat(queue).hasRunTimes("order-close", 1).hasNoMessages("order-close");
 * }</pre>
 *
 * <p>The engine, its retries, leases and dead letters are those of production. Durability and the network are left out.
 */
public final class DelayQueueTester implements AssertProvider<DelayQueueAssert>, AutoCloseable {

    private final TestQueueParts parts;
    private final PayloadCodec codec;
    private final DelayQueueEngine engine;
    private final List<ListenerContainer> containers = new ArrayList<>();

    /** Whether a transaction is active on this thread. Null if the engine is not that of an application. */
    private final @Nullable BooleanSupplier inTransaction;

    DelayQueueTester(
            TestQueueParts parts,
            PayloadCodec codec,
            DelayQueueEngine engine,
            @Nullable BooleanSupplier inTransaction) {
        this.parts = parts;
        this.codec = codec;
        this.engine = engine;
        this.inTransaction = inTransaction;
    }

    /** A queue that writes payloads as JSON. */
    public static DelayQueueTester create() {
        return create(builder -> builder);
    }

    /**
     * A queue with other settings.
     *
     * @param settings changes the builder of the engine. Time, threads and the store stay those of the tester
     */
    public static DelayQueueTester create(UnaryOperator<DelayQueueEngine.Builder> settings) {
        return create(new JacksonPayloadCodec(), settings);
    }

    /** A queue with another codec and other settings. */
    public static DelayQueueTester create(PayloadCodec codec, UnaryOperator<DelayQueueEngine.Builder> settings) {
        TestQueueParts parts = new TestQueueParts();
        DelayQueueEngine.Builder builder =
                DelayQueueEngine.builder(parts.backend()).codec(codec).node("test");
        DelayQueueEngine engine = settings.apply(builder)
                .loops(parts.time().loops())
                .workers(parts.time().workers())
                .build();
        return new DelayQueueTester(parts, codec, engine, null);
    }

    public DelayQueueTemplate template() {
        return engine.template();
    }

    public DelayQueueAdmin admin() {
        return engine.admin();
    }

    /** Starts a listener that runs a message up to three times, a second apart. The topic is its id. */
    public <T> ListenerContainer listen(String topic, Class<T> type, MessageHandler<T> handler) {
        return listen(
                ListenerEndpoint.builder(topic, topic, type)
                        .retry(RetryPolicy.fixed(3, Duration.ofSeconds(1)))
                        .build(),
                handler);
    }

    /** Starts a listener with its own settings. */
    public <T> ListenerContainer listen(ListenerEndpoint endpoint, MessageHandler<T> handler) {
        return start(engine.<T>container(
                endpoint, isOfApplication() ? handler : parts.runs().recorded(endpoint, handler)));
    }

    /** Starts a listener whose handler takes several messages a call, up to the batch size of the endpoint. */
    public <T> ListenerContainer listenBatch(ListenerEndpoint endpoint, MessageHandler.Batch<T> handler) {
        return start(engine.<T>batchContainer(
                endpoint, isOfApplication() ? handler : parts.runs().recordedBatch(endpoint, handler)));
    }

    private ListenerContainer start(ListenerContainer container) {
        containers.add(container);
        container.start();
        return container;
    }

    /** Its interceptor records the runs of all listeners. */
    private boolean isOfApplication() {
        return inTransaction != null;
    }

    /**
     * Lets time pass, and runs the handlers of the messages that become due, retries and messages that handlers send
     * included, on the calling thread before it returns. An exception of a handler fails the run, and does not reach the test.
     *
     * @throws IllegalArgumentException if the duration is negative
     * @throws IllegalStateException if a handler calls it, if handlers send messages at the same instant without end, or if a
     *     transaction of the application is active on this thread
     */
    public void advance(Duration duration) {
        if (inTransaction != null && inTransaction.getAsBoolean()) {
            throw new IllegalStateException(
                    "Time is advanced within a transaction of this thread. Handlers would join it, and"
                            + " their messages would wait for its commit. End it first, by TestTransaction.flagForCommit() and"
                            + " TestTransaction.end(), or advance in a test without @Transactional.");
        }
        parts.time().advance(duration);
    }

    /** Runs the handlers of messages that are due now. */
    public void runDue() {
        advance(Duration.ZERO);
    }

    /** The store's clock. It begins at the present time. */
    public Instant now() {
        return parts.time().now();
    }

    /** A clock that shows the store's time, for an application that takes its time from a {@link Clock}. */
    public Clock clock() {
        return new TesterClock(parts.time(), ZoneOffset.UTC);
    }

    /** The virtual time, for other parts of a test. */
    public VirtualTime time() {
        return parts.time();
    }

    /** Faults of the store and of processes. */
    public StoreFaults faults() {
        return parts.faults();
    }

    /** The calls of handlers so far, in their order. */
    public List<HandlerRun> runs() {
        return parts.runs().all();
    }

    @Override
    public DelayQueueAssert assertThat() {
        return DelayQueueAssert.inVirtualTime(parts.faults().readPast(engine.admin()), codec, this::runs);
    }

    /**
     * Ends all faults and scheduled tasks, removes all messages, pauses of topics and recorded runs, and sets the clock to the
     * present time. Listeners stay as they are, without open messages; but in an application, those of {@link #listen} end.
     */
    public void reset() {
        parts.faults().heal();
        Duration lease = parts.longestInFlight();
        parts.time().cancelScheduled();
        parts.clear();
        try {
            if (isOfApplication()) {
                stopListeners();
            }
            parts.recover(lease);
        } finally {
            parts.clear();
            parts.startAtPresent();
        }
    }

    private void stopListeners() {
        ListenerContainer.stopAll(containers);
        containers.clear();
    }

    /** Stops the listeners of {@link #listen}. The queue of an application goes on, because other tests share it. */
    @Override
    public void close() {
        stopListeners();
        if (!isOfApplication()) {
            engine.close();
        }
    }
}
