package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Repaired;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RepairsTests {

    private final TestQueue queue = new TestQueue();
    private final List<String> positions = new ArrayList<>();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(Repairs.class);

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(lines);
    }

    /** A store whose sweep answers this. */
    private QueueBackend sweeping(Function<String, Repaired> sweep) {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("repair")) {
                        positions.add((String) arguments[1]);
                        return sweep.apply((String) arguments[1]);
                    }
                    try {
                        return method.invoke(queue.memory, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private void run(QueueBackend store, Duration time) {
        queue.start(queue.builder(queue.time.node(), store).build(), listener(), message -> {});
        queue.time.advance(time);
    }

    private List<String> log() {
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void sweepsAFewPagesAtATimeToTheEndOnceAMinute() {
        run(
                sweeping(position -> {
                    int page = Integer.parseInt(position.replace("state:", ""));
                    return new Repaired(page == 24 ? "" : "state:" + (page + 1), List.of(), 0, List.of());
                }),
                Duration.ofSeconds(29));
        assertThat(positions).hasSize(25).startsWith("state:0", "state:1").endsWith("state:24");

        queue.time.advance(Duration.ofSeconds(40));
        assertThat(positions).hasSize(25);
        queue.time.advance(Duration.ofSeconds(40));
        assertThat(positions).hasSize(50);
        assertThat(log()).isEmpty();
    }

    @Test
    void saysOnceAPassWhatItPutBack() {
        run(
                sweeping(position -> new Repaired("", List.of("a", "evil\nline"), 3, List.of("sent"))),
                Duration.ofSeconds(5));

        assertThat(log())
                .hasSize(3)
                .anySatisfy(line -> assertThat(line)
                        .contains(
                                "2 messages of orders:0 were in no set of their shard",
                                "evil\\nline",
                                "look for what Redis refused"))
                .anySatisfy(line -> assertThat(line).contains("The counters [sent] of orders:0"))
                .anySatisfy(line -> assertThat(line).contains("3 entries"));
    }

    @Test
    void saysOnceWhatIsRefusedAndGoesOnWhenThatIsMended() {
        boolean[] mended = new boolean[1];
        run(
                sweeping(position -> {
                    if (!mended[0]) {
                        throw new StoreRefusedException("no hscan", new IllegalStateException());
                    }
                    return new Repaired("", List.of(), 0, List.of());
                }),
                Duration.ofMinutes(10));
        assertThat(log()).singleElement().satisfies(line -> assertThat(line).contains("orders:0", "no hscan"));
        assertThat(positions).hasSizeBetween(8, 11);

        mended[0] = true;
        queue.time.advance(Duration.ofMinutes(5));
        assertThat(log()).hasSize(1);
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }
}
