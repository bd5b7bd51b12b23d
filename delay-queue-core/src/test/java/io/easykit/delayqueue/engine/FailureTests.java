package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.engine.TestQueue.Run;
import io.easykit.delayqueue.memory.StoreState;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.io.IOException;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

class FailureTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final RetryPolicy POLICY = new RetryPolicy(4, Duration.ofSeconds(1), 3, Duration.ofSeconds(5), 0);
    private static final ShardKey SHARD = new ShardKey(TOPIC, 0);

    private final TestQueue queue = new TestQueue();

    @Test
    void triesAsOftenAndAsLateAsThePolicySaysAndBuriesWithTheErrors() {
        queue.start(listener().retry(POLICY), message -> {
            throw new IllegalStateException("attempt " + message.attempt(), new IOException("disk"));
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofHours(1));

        List<Instant> times = queue.runs.stream().map(Run::at).toList();
        assertThat(times).hasSize(4);
        assertThat(millis(times, 0, 1)).isBetween(1000L, 1003L);
        assertThat(millis(times, 1, 2)).isBetween(3000L, 3003L);
        assertThat(millis(times, 2, 3)).isBetween(5000L, 5003L);
        StoredMessage dead = queue.find("a");
        assertThat(dead.state()).isEqualTo(State.DEAD);
        assertThat(dead.frame()).isNotNull();
        assertThat(queue.history("a").failures()).isEqualTo(4);
        assertThat(queue.firstError("a")).startsWith("java.lang.IllegalStateException: attempt 1");
        assertThat(queue.lastError("a"))
                .startsWith("java.lang.IllegalStateException: attempt 4\ncaused by java.io.IOException: disk")
                .contains("at io.easykit.delayqueue.engine.FailureTests");
        assertThat(queue.events(DelayQueueEvent.Failed.class)).hasSize(4);
        assertThat(queue.events(DelayQueueEvent.Died.class))
                .containsExactly(new DelayQueueEvent.Died(TOPIC, "a", "java.lang.IllegalStateException: attempt 4"));
    }

    @Test
    void buriesAtOnceAfterAnExceptionThatIsNeverRetried() {
        queue.start(listener().notRetried(List.of(IllegalArgumentException.class)), message -> {
            throw new NumberFormatException("no number");
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofHours(1));

        assertThat(queue.runs).hasSize(1);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void buriesAtOnceAfterSuchAnExceptionOfAFuture() {
        queue.start(listener().notRetried(List.of(IllegalArgumentException.class)), message -> {
            throw new CompletionException(new ExecutionException(new NumberFormatException("no number")));
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofHours(1));

        assertThat(queue.runs).hasSize(1);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void prefersThePolicyOfTheMessage() {
        queue.start(listener(), message -> {
            throw new IllegalStateException();
        });
        RetryPolicy own = RetryPolicy.fixed(2, Duration.ofMinutes(1));
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "x").id("a").retry(own));
        queue.time.advance(Duration.ofSeconds(59));
        assertThat(queue.runs).hasSize(1);

        queue.time.advance(Duration.ofHours(1));
        assertThat(queue.runs).hasSize(2);
    }

    @Test
    void takesErrorsOfTheVirtualMachineForFailures() {
        queue.start(listener().retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
            throw new StackOverflowError();
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void survivesAnExceptionWhoseOwnMethodsThrow() {
        queue.start(listener().retry(RetryPolicy.fixed(2, Duration.ZERO)), message -> {
            throw new IllegalStateException() {
                @Override
                public String getMessage() {
                    throw new UnsupportedOperationException();
                }
            };
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.runs).hasSize(2);
        assertThat(queue.lastError("a")).contains("FailureTests").contains("UnsupportedOperationException");
    }

    @Test
    void buriesWhatMakesItsReaderFailAnAssertion() {
        queue.start(listener().retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {});
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "assertion").id("a"));
        queue.send("b", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.runIds()).containsExactly("b");
    }

    @Test
    void triesAgainWhatTheNodeHadTooLittleMemoryFor() {
        queue.start(listener().retry(RetryPolicy.fixed(2, Duration.ofSeconds(1))), message -> {});
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "memory").id("a"));
        queue.time.advance(Duration.ofMillis(500));
        assertThat(queue.find("a").state()).isEqualTo(State.WAITING);

        queue.time.advance(Duration.ofSeconds(5));
        assertThat(queue.lastError("a")).contains("OutOfMemoryError");
        assertThat(queue.history("a").failures()).isEqualTo(2);
    }

    @Test
    void refusesAWaitThatIsNotPossible() {
        List<Throwable> refused = new ArrayList<>();
        queue.start(listener(), message -> {
            try {
                message.acknowledgment().fail(new IllegalStateException(), ChronoUnit.FOREVER.getDuration());
            } catch (IllegalArgumentException e) {
                refused.add(e);
            }
        });
        queue.send("a", Duration.ZERO);
        queue.send("b", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(refused).hasSize(2).allSatisfy(e -> assertThat(e).hasMessageContaining("not possible"));
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(2);
    }

    @Test
    @SuppressWarnings("NullAway") // what callers without a null checker do
    void takesAFailureWithNullForAMistakeOfTheHandlerAndTriesAgain() {
        queue.start(listener().ackMode(AckMode.MANUAL), message -> {
            if (message.attempt() > 2) {
                message.acknowledgment().acknowledge();
            } else if (message.attempt() == 2) {
                message.acknowledgment().reject(null);
            } else {
                message.acknowledgment().fail(new IllegalStateException(), null);
            }
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
        assertThat(queue.stats().dead()).isZero();
    }

    /** As during a rolling deploy. */
    @Test
    void triesAgainAPayloadThatItCannotReadSoThatAnotherNodeReadsIt() {
        ListenerContainer old = queue.start(listener().retry(POLICY), message -> {});
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "broken").id("a"));
        queue.time.advance(Duration.ofMillis(500));
        assertThat(queue.find("a").state()).isEqualTo(State.WAITING);
        assertThat(queue.history("a").failures()).isEqualTo(1);
        queue.time.advance(Duration.ofSeconds(3));
        assertThat(queue.history("a").failures()).isEqualTo(2);

        queue.stop(old);
        DelayQueueEngine newer = queue.builder(queue.time.node(), queue.memory)
                .codec(new TestQueue.TextCodec() {
                    @Override
                    public Object decode(Bytes body, Type type) {
                        return new String(body.array(), UTF_8);
                    }
                })
                .build();
        queue.start(newer, listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(queue.runIds()).containsExactly("a");
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void buriesAPayloadThatCannotBeReadAfterItsLastAttemptAndShowsIt() {
        queue.start(listener().retry(POLICY), message -> {});
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "broken").id("a"));
        queue.time.advance(Duration.ofHours(1));

        assertThat(queue.runs).isEmpty();
        StoredMessage dead = queue.find("a");
        assertThat(dead.state()).isEqualTo(State.DEAD);
        assertThat(new String(Envelope.decode(queue.frame("a")).body().array(), UTF_8))
                .isEqualTo("broken");
        assertThat(queue.firstError("a"))
                .startsWith("io.easykit.delayqueue.UndecodableMessageException: The payload cannot be decoded:"
                        + " java.lang.IllegalStateException\n")
                .as("only the place of the codec's exception, whose message may quote the payload")
                .contains("TextCodec.decode(")
                .doesNotContain("no such text");
        assertThat(queue.history("a").failures()).isEqualTo(4);
        assertThat(queue.events(DelayQueueEvent.Died.class)).hasSize(1);
    }

    @Test
    void buriesAtOnceAPayloadThatCannotBeReadIfThatIsNeverRetried() {
        queue.start(listener().notRetried(List.of(UndecodableMessageException.class)), message -> {});
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "broken").id("a"));
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.history("a").failures()).isEqualTo(1);
    }

    @Test
    void buriesAFrameThatIsNone() {
        queue.start(listener(), message -> {});
        Bytes noFrame = Bytes.of(new byte[] {1, 2, 3});
        queue.memory.send(SHARD, List.of(new NewMessage("a", DueTime.after(Duration.ZERO), noFrame)));
        queue.time.advance(Duration.ofHours(1));

        assertThat(queue.runs).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.find("a").frame()).isEqualTo(noFrame);
        assertThat(queue.history("a").failures()).isEqualTo(5);
    }

    /** During a rolling deploy a newer node sends what this one cannot read. */
    @Test
    void releasesAFrameOfALaterVersionWithADelayAtNoCostAndWarnsOnce() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(NewerFrames.class);
        logger.addAppender(log);
        ListenerContainer old = queue.start(listener().retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {});
        for (String id : List.of("a", "b")) {
            sendNewer(id, DueTime.after(Duration.ZERO));
        }
        queue.time.advance(Duration.ofHours(1));

        assertThat(queue.runs).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(State.WAITING);
        assertThat(queue.history("a").failures()).isZero();
        assertThat(queue.history("a").leaseExpirations()).isZero();
        assertThat(queue.history("a").releases()).isBetween(10, 25);
        assertThat(log.list).singleElement().asString().contains("orders", "version 2", "Update this node");
        logger.detachAppender(log);
        queue.stop(old);
    }

    private void sendNewer(String id, DueTime due) {
        byte[] frame = new Envelope(7, Map.of(), null, Bytes.of("new".getBytes(UTF_8)))
                .encode()
                .array();
        frame[Long.BYTES] = 2;
        queue.memory.send(SHARD, List.of(new NewMessage(id, due, Bytes.of(frame))));
    }

    @Test
    void givesEachMessageOfALaterVersionItsOwnDelay() {
        queue.start(listener().concurrency(10), message -> {});
        sendNewer("m", DueTime.after(Duration.ZERO));
        queue.time.advance(SECOND);
        queue.time.advanceUntil(
                Duration.ofHours(1), "ten releases", () -> queue.history("m").releases() == 10);
        Instant together = queue.find("m").at();
        sendNewer("a", DueTime.at(together));
        sendNewer("z", DueTime.at(together));

        queue.time.advance(Duration.between(queue.time.now(), together).plusMillis(500));

        assertThat(Duration.between(together, queue.find("a").at())).isBetween(SECOND, SECOND.plusMillis(10));
        assertThat(Duration.between(together, queue.find("m").at()))
                .isBetween(Duration.ofMinutes(5), Duration.ofMinutes(5).plusMillis(10));
        assertThat(Duration.between(together, queue.find("z").at())).isBetween(SECOND, SECOND.plusMillis(10));
    }

    @ParameterizedTest
    @EnumSource(names = {"NONE", "LOST_REQUEST", "LOST_REPLY"})
    void buriesWhatSomebodyDeletedTheBodyOfAndSaysSoOnce(Fault fault) {
        queue.start(listener(), message -> {});
        queue.send("a", Duration.ofSeconds(10));
        StoreState.deleteBody(queue.memory, SHARD, "a");
        queue.time.advance(Duration.ofMillis(9_990));
        queue.line.once("claim", fault);
        queue.time.advance(Duration.ofHours(1));

        assertThat(queue.runs).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.lastError("a")).isEqualTo(ErrorNote.BODY_MISSING);
        assertThat(queue.events(DelayQueueEvent.Died.class))
                .containsExactly(new DelayQueueEvent.Died(TOPIC, "a", ErrorNote.BODY_MISSING));
    }

    @Test
    void retriesAfterAWaitOfTheHandlersOwn() {
        queue.start(listener().ackMode(AckMode.MANUAL), message -> {
            if (message.attempt() == 1) {
                message.acknowledgment().fail(new IllegalStateException(), Duration.ofMinutes(10));
            } else {
                message.acknowledgment().acknowledge();
            }
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofMinutes(10).minusMillis(1));
        assertThat(queue.runs).hasSize(1);

        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.runs).hasSize(2);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void holdsTheLimitOfAttemptsAgainstAWaitOfTheHandlersOwn() {
        queue.start(
                listener().ackMode(AckMode.MANUAL).retry(RetryPolicy.fixed(3, Duration.ZERO)),
                message -> message.acknowledgment().fail(new IllegalStateException(), Duration.ZERO));
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofHours(1));

        assertThat(queue.runs).hasSize(3);
    }

    @Test
    void settlesOnceOnly() {
        queue.start(listener(), message -> {
            message.acknowledgment().reject(new IllegalStateException("first"));
            message.acknowledgment().acknowledge();
            throw new IllegalStateException("last");
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.lastError("a")).contains("first");
        assertThat(queue.stats().counters().failed()).isEqualTo(1);
    }

    @Test
    void givesARedrivenMessageItsWholeBudgetAgain() {
        queue.start(listener().retry(RetryPolicy.fixed(2, Duration.ofSeconds(1))), message -> {
            throw new IllegalStateException();
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofMinutes(1));
        Instant diedAt = queue.find("a").at();

        assertThat(queue.engine.admin().redrive(TOPIC, "a", diedAt)).isTrue();
        assertThat(queue.engine.admin().redrive(TOPIC, "a", diedAt)).isFalse();
        queue.time.advance(Duration.ofMinutes(1));

        assertThat(queue.runs).hasSize(4);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    private static long millis(List<Instant> times, int from, int to) {
        return Duration.between(times.get(from), times.get(to)).toMillis();
    }
}
