package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** A fault that affects many messages is logged in a few lines. */
class RepeatedLinesTests {

    private static final int MANY = 300;

    private final TestQueue queue = new TestQueue(builder -> builder.listener(new DelayQueueListener() {
        @Override
        public void onFailed(DelayQueueEvent.Failed event) {
            throw new IllegalStateException("a broken listener of events");
        }
    }));
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.easykit.delayqueue");
    private final Logger ofEvents = (Logger) LoggerFactory.getLogger(Events.class);
    private final Level levelOfEvents = ofEvents.getLevel();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        ofEvents.setLevel(Level.WARN);
    }

    @AfterEach
    void close() {
        queue.engine.close();
        logger.detachAppender(log);
        ofEvents.setLevel(levelOfEvents);
    }

    private List<String> lines(String text) {
        return log.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.INFO))
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.contains(text))
                .toList();
    }

    private void sendMany() {
        IntStream.range(0, MANY).forEach(i -> queue.send("m" + i, Duration.ZERO));
    }

    @Test
    void ofDeathsAndOfListenersThatFail() {
        queue.start(listener().concurrency(100).retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
            throw new IllegalStateException();
        });
        sendMany();
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.stats().dead()).isEqualTo(MANY);
        assertThat(lines("is dead")).hasSize(RepeatedLines.MOST);
        assertThat(lines("is dead").get(RepeatedLines.MOST - 1)).contains("DEBUG only");
        assertThat(lines("A listener failed on")).hasSize(RepeatedLines.MOST);

        queue.time.advance(Duration.ofSeconds(10));
        queue.send("later", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(lines("is dead"))
                .hasSize(RepeatedLines.MOST + 1)
                .last()
                .asString()
                .contains((MANY - RepeatedLines.MOST) + " such lines before it were left out");
    }

    @Test
    void ofLeasesThatAnOutageCosts() {
        queue.start(listener().ackMode(AckMode.MANUAL).concurrency(MANY).lease(Duration.ofMinutes(10)), message -> {});
        sendMany();
        queue.time.advance(Duration.ofSeconds(1));
        queue.line.away();
        queue.time.advance(Duration.ofMinutes(10));

        assertThat(queue.runs).hasSize(MANY);
        assertThat(lines("has lost its lease")).hasSize(RepeatedLines.MOST);
    }

    @Test
    void ofCancellationsThatTheStoreDoesNotAnswer() {
        queue.send("warm", Duration.ofHours(1));
        queue.line.away();
        IntStream.range(0, MANY).forEach(i -> queue.engine.template().cancelAfterCommit(TOPIC, "m" + i));

        assertThat(lines("could not be cancelled")).hasSize(RepeatedLines.MOST);
    }

    /** Once for each time, because the line says that it holds until it is fixed. */
    @ParameterizedTest
    @CsvSource({
        "purge, removal or announcement of dead letters",
        "beat, do not see this one",
        "addTopics, do not see this one"
    })
    void ofRefusalsThatComeBack(String call, String line) {
        queue.engine.join();
        queue.start(listener().deadLetterRetention(Duration.ofHours(1)), message -> {});
        for (int i = 1; i <= 2; i++) {
            queue.line.plan(method -> method.equals(call) ? Fault.REFUSED : Fault.NONE);
            queue.time.advance(Duration.ofMinutes(5));
            assertThat(lines(line)).hasSize(i);

            queue.line.heal();
            queue.time.advance(Duration.ofMinutes(5));
        }
    }

    @Test
    void ofSingleMessagesStandAlone() {
        queue.start(listener().retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
            throw new IllegalStateException();
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(lines("is dead")).singleElement().asString().endsWith("IllegalStateException");
    }
}
