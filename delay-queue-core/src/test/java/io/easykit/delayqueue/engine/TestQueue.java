package io.easykit.delayqueue.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.support.Bytes;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/** A queue of texts in memory, with a clock that the test moves, and everything that its listeners saw. */
final class TestQueue {

    static final String TOPIC = "orders";

    final SimulatedTime time = new SimulatedTime();
    final SimulatedTime.Node node = time.node();
    /** By how much the clock of the store differs from that of the test, in microseconds. */
    final AtomicLong storeClockOffset = new AtomicLong();

    final InMemoryQueueStore memory = new InMemoryQueueStore(() -> time.micros() + storeClockOffset.get());
    final FaultyStore line = new FaultyStore(memory);
    final List<DelayQueueEvent> events = new CopyOnWriteArrayList<>();
    final List<Run> runs = new CopyOnWriteArrayList<>();
    final DelayQueueEngine engine;

    TestQueue() {
        this(builder -> builder);
    }

    TestQueue(UnaryOperator<DelayQueueEngine.Builder> settings) {
        engine = settings.apply(builder(node, line.asStore())).build();
    }

    /** One call of a handler. */
    record Run(Instant at, String id, String payload, int attempt) {}

    DelayQueueEngine.Builder builder(SimulatedTime.Node process, QueueBackend store) {
        return DelayQueueEngine.builder(store)
                .codec(new TextCodec())
                .workers(process.workers(Duration.ZERO))
                .loops(process)
                .node("test")
                .listener(new DelayQueueListener() {
                    @Override
                    public void onEvent(DelayQueueEvent event) {
                        events.add(event);
                    }
                });
    }

    static ListenerEndpoint.Builder listener() {
        return ListenerEndpoint.builder("close", TOPIC, String.class);
    }

    ListenerContainer start(ListenerEndpoint.Builder endpoint, MessageHandler<String> handler) {
        return start(engine, endpoint, handler);
    }

    ListenerContainer start(
            DelayQueueEngine ofEngine, ListenerEndpoint.Builder endpoint, MessageHandler<String> handler) {
        ListenerContainer container = ofEngine.container(endpoint.build(), (DelayMessage<String> message) -> {
            runs.add(new Run(time.now(), message.id(), message.payload(), message.attempt()));
            handler.handle(message);
        });
        container.start();
        return container;
    }

    /** Stops without waiting in real time. */
    void stop(ListenerContainer container) {
        container.beginStop();
        time.advanceUntil(Duration.ofMinutes(5), "the container stops", container::hasEnded);
        container.finishStop();
    }

    SendResult send(String id, Duration delay) {
        return engine.template()
                .send(OutgoingMessage.of(TOPIC, "payload of " + id).id(id).after(delay));
    }

    List<String> runIds() {
        return runs.stream().map(Run::id).toList();
    }

    <E extends DelayQueueEvent> List<E> events(Class<E> type) {
        List<E> found = new ArrayList<>();
        events.stream().filter(type::isInstance).map(type::cast).forEach(found::add);
        return found;
    }

    ShardStats stats() {
        return memory.stats(new ShardKey(TOPIC, 0));
    }

    /** Each message has run once on this node, its result counts, and no lease has expired. */
    void assertEachRanOnce(int messages) {
        assertThat(runs).hasSize(messages);
        assertThat(stats().counters().acknowledged()).isEqualTo(messages);
        assertThat(stats().counters().leaseExpirations()).isZero();
    }

    StoredMessage find(String id) {
        return memory.find(new ShardKey(TOPIC, 0), id).orElseThrow();
    }

    StoredMessage.History history(String id) {
        return Objects.requireNonNull(find(id).history());
    }

    String firstError(String id) {
        return Objects.requireNonNull(find(id).firstError()).text();
    }

    String lastError(String id) {
        return Objects.requireNonNull(find(id).lastError()).text();
    }

    Bytes frame(String id) {
        return Objects.requireNonNull(find(id).frame());
    }

    static void awaitLatch(CountDownLatch latch) {
        try {
            if (!latch.await(20, TimeUnit.SECONDS)) {
                throw new AssertionError("The latch was not released");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Texts as they are; some of them cannot be read. */
    static class TextCodec implements PayloadCodec {

        @Override
        public Bytes encode(Object payload) {
            if (payload.equals("unwritable")) {
                throw new IllegalArgumentException("unwritable");
            }
            return Bytes.of(payload.toString().getBytes(UTF_8));
        }

        @Override
        public Object decode(Bytes body, Type type) {
            String text = new String(body.array(), UTF_8);
            return switch (text) {
                case "broken" -> throw new IllegalStateException("no such text");
                case "assertion" -> throw new AssertionError("not like this");
                case "linkage" -> throw new NoClassDefFoundError("Charge");
                case "memory" -> throw new OutOfMemoryError("Java heap space");
                default -> text;
            };
        }
    }
}
