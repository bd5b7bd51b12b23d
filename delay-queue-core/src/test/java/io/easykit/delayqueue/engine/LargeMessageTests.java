package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.memory.StoreState;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class LargeMessageTests {

    private final TestQueue queue = new TestQueue();

    /** A line on which larger replies take longer than the command timeout, although the store has run the call. */
    private QueueBackend narrow(int mostBytes, List<Integer> replies) {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> {
                    Object reply;
                    try {
                        reply = method.invoke(queue.memory, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                    int bytes = bytesOf(reply);
                    if (bytes > 0) {
                        replies.add(bytes);
                    }
                    if (bytes > mostBytes) {
                        throw new StoreUnavailableException("too late", new IllegalStateException());
                    }
                    return reply;
                });
    }

    private static int bytesOf(Object reply) {
        if (reply instanceof Claimed claimed) {
            return claimed.deliveries().stream()
                    .mapToInt(delivery -> delivery.frame().length())
                    .sum();
        }
        return reply instanceof Optional<?> optional && optional.orElse(null) instanceof Bytes bytes
                ? bytes.length()
                : 0;
    }

    @ParameterizedTest
    @ValueSource(ints = {8_000, 50_000, 200_000, 1 << 30})
    void runsEverythingOverALineThatIsTooNarrowForTheUsualReply(int mostBytes) {
        List<Integer> replies = new ArrayList<>();
        DelayQueueEngine narrow =
                queue.builder(queue.time.node(), narrow(mostBytes, replies)).build();
        long sent = 0;
        for (int i = 0; i < 300; i++) {
            int size = i % 100 == 50 ? 2_000_000 : i % 10 == 5 ? 40_000 : i % 10;
            sent += size;
            queue.engine
                    .template()
                    .send(OutgoingMessage.of(TOPIC, "x".repeat(size)).id("m" + i));
        }
        queue.start(narrow, listener().concurrency(10), message -> {});
        queue.time.advance(Duration.ofSeconds(60));

        assertThat(queue.runIds()).hasSize(300).doesNotHaveDuplicates();
        assertThat(queue.runs).allSatisfy(run -> {
            int i = Integer.parseInt(run.id().substring(1));
            assertThat(run.payload()).hasSize(i % 100 == 50 ? 2_000_000 : i % 10 == 5 ? 40_000 : i % 10);
        });
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(300);
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        assertThat(replies.stream().mapToLong(bytes -> bytes).sum()).isLessThan(2 * sent);
        assertThat(replies).allMatch(bytes -> bytes <= 1 << 18);
    }

    @Test
    void triesAgainAtNoCostWhereABodyCannotBeReadDuringAnOutage() {
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "x".repeat(500_000)).id("a"));
        queue.line.plan(method -> method.equals("read") ? Fault.LOST_REQUEST : Fault.NONE);
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(5));
        assertThat(queue.runs).isEmpty();
        assertThat(queue.history("a").failures()).isZero();
        assertThat(queue.history("a").leaseExpirations()).isZero();

        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(5));

        assertThat(queue.runIds()).containsExactly("a");
        assertThat(queue.runs.get(0).payload()).hasSize(500_000);
    }

    /** As without the permission for a command of that script. */
    @Test
    void triesAgainAtNoCostWhereTheStoreRefusesToReadBodiesAndSaysSoOnce() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(StandstillLog.class);
        logger.addAppender(log);
        for (String id : List.of("a", "b")) {
            queue.engine
                    .template()
                    .send(OutgoingMessage.of(TOPIC, "x".repeat(500_000)).id(id));
        }
        queue.line.plan(method -> method.equals("read") ? Fault.REFUSED : Fault.NONE);
        queue.start(listener().retry(RetryPolicy.fixed(2, Duration.ZERO)), message -> {});
        queue.send("small", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(queue.runIds()).containsExactly("small");
        for (String id : List.of("a", "b")) {
            assertThat(queue.history(id).failures()).isZero();
            assertThat(queue.history(id).leaseExpirations()).isZero();
        }

        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(5));

        logger.detachAppender(log);
        assertThat(queue.runIds()).containsExactlyInAnyOrder("small", "a", "b");
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("Large messages of orders")
                                .contains("refused read"),
                        line -> assertThat(line)
                                .startsWith("Large messages of orders")
                                .contains("run again"));
    }

    @Test
    void buriesALargeMessageWhoseBodyIsDeletedWhileItIsRead() {
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "x".repeat(500_000)).id("a"));
        queue.line.plan(method -> {
            if (method.equals("read")) {
                StoreState.deleteBody(queue.memory, new ShardKey(TOPIC, 0), "a");
            }
            return Fault.NONE;
        });
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(5));

        assertThat(queue.runs).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(MessageInfo.State.DEAD);
        assertThat(queue.lastError("a")).isEqualTo(MessageInfo.ErrorNote.BODY_MISSING);
    }
}
