package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class ErrorHandlerTests {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final RetryPolicy THREE = RetryPolicy.fixed(3, SECOND);

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.easykit.delayqueue");
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final TestQueue queue = new TestQueue();
    private final List<String> asked = new ArrayList<>();

    ErrorHandlerTests() {
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void detach() {
        logger.detachAppender(logged);
    }

    @Test
    void waitsAsLongAsTheActionSaysAndCountsTheAttempt() {
        fail(endpoint(ErrorAction.retryAfter(MINUTE)));

        queue.time.advance(Duration.ofSeconds(59));
        assertThat(queue.runs).hasSize(1);
        queue.time.advance(Duration.ofSeconds(62));
        assertThat(queue.runs).hasSize(3);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.events(DelayQueueEvent.Failed.class))
                .extracting(DelayQueueEvent.Failed::retryAfter)
                .containsExactly(MINUTE, MINUTE, null);
    }

    @Test
    void retriesByThePolicyOfTheListenerAlsoWhatIsNeverRetriedOtherwise() {
        fail(endpoint(ErrorAction.retry()).notRetried(List.of(IllegalStateException.class)));

        queue.time.advance(MINUTE);
        assertThat(queue.runs).hasSize(3);
    }

    /** A header that names no time to wait would use up all attempts at once. */
    @Test
    void waitsForTheBackOffIfTheHeaderOfThePartnerNamesLess() {
        fail(endpoint(ErrorAction.retryAfterHeader("0", queue.time.now(), MINUTE)));

        queue.time.advance(Duration.ofMillis(900));
        assertThat(queue.runs).hasSize(1);
        queue.time.advance(SECOND);
        assertThat(queue.runs).hasSize(2);
        assertThat(queue.events(DelayQueueEvent.Failed.class))
                .extracting(DelayQueueEvent.Failed::retryAfter)
                .containsOnly(SECOND);
    }

    @Test
    void takesAPolicyOfTheActionWithItsOwnLimit() {
        fail(endpoint(ErrorAction.retry(RetryPolicy.fixed(5, MINUTE))));

        queue.time.advance(Duration.ofSeconds(59));
        assertThat(queue.runs).hasSize(1);
        queue.time.advance(Duration.ofHours(1));
        assertThat(queue.runs).hasSize(5);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void prefersThePolicyOfTheMessageForARetryWithoutOne() {
        start(endpoint(ErrorAction.retry()));
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "x").id("a").retry(RetryPolicy.fixed(2, MINUTE)));

        queue.time.advance(Duration.ofSeconds(59));
        assertThat(queue.runs).hasSize(1);
        queue.time.advance(Duration.ofHours(1));
        assertThat(queue.runs).hasSize(2);
    }

    @Test
    void buriesAtOnce() {
        fail(endpoint(ErrorAction.dead()));

        queue.time.advance(MINUTE);
        assertThat(queue.runs).hasSize(1);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.lastError("a")).startsWith("java.lang.IllegalStateException: no stock");
    }

    @Test
    void discardsWithAnEventAndALine() {
        fail(endpoint(ErrorAction.discard()));

        queue.time.advance(MINUTE);
        assertThat(queue.runs).hasSize(1);
        assertThat(queue.memory.find(new ShardKey(TOPIC, 0), "a")).isEmpty();
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
        assertThat(queue.stats().counters().failed()).isZero();
        assertThat(queue.events(DelayQueueEvent.Discarded.class))
                .singleElement()
                .satisfies(event -> assertThat(event.error()).hasMessage("no stock"));
        assertThat(queue.events(DelayQueueEvent.Completed.class)).isEmpty();
        assertThat(queue.events(DelayQueueEvent.Failed.class)).isEmpty();
        assertThat(warnings())
                .contains("Message a of orders:0 is discarded by its error handler: java.lang.IllegalStateException:"
                        + " no stock");
    }

    @Test
    void leavesTheDecisionToTheRestOfTheSettings() {
        fail(endpoint(ErrorAction.byDefault()).notRetried(List.of(IllegalStateException.class)));

        queue.time.advance(MINUTE);
        assertThat(queue.runs).hasSize(1);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void goesOnByThePolicyIfTheHandlerMakesNoDecision(boolean throwing) {
        fail(listener().retry(THREE).errorHandler((message, error) -> {
            if (throwing) {
                throw new AssertionError("broken\nhandler");
            }
            return null;
        }));

        queue.time.advance(MINUTE);
        assertThat(queue.runs).hasSize(3);
        assertThat(queue.lastError("a")).startsWith("java.lang.IllegalStateException: no stock");
        assertThat(warnings())
                .contains("The error handler of listener 'close' made no decision for message a, so the retry policy"
                        + " decides: " + (throwing ? "java.lang.AssertionError: broken" : "it returned null"));
    }

    @Test
    void getsTheMessageAndTheError() {
        start(listener().retry(THREE).errorHandler((message, error) -> {
            asked.add(message.id() + " " + message.payload() + " " + message.headers() + " " + message.attempt() + " "
                    + error.getMessage());
            return ErrorAction.retry();
        }));
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "x").id("a").header("tenant", "t"));

        queue.time.advance(MINUTE);
        assertThat(asked)
                .containsExactly("a x {tenant=t} 1 no stock", "a x {tenant=t} 2 no stock", "a x {tenant=t} 3 no stock");
    }

    @Test
    void decidesForEachMessageOfABatchThatIsOpen() {
        ListenerEndpoint endpoint = listener()
                .batchSize(3)
                .errorHandler((message, error) -> {
                    asked.add(message.id());
                    return message.id().equals("a") ? ErrorAction.discard() : ErrorAction.dead();
                })
                .build();
        for (String id : List.of("a", "b", "c")) {
            queue.send(id, Duration.ZERO);
        }
        queue.engine
                .batchContainer(endpoint, (MessageHandler.Batch<String>) messages -> {
                    messages.get(1).acknowledgment().acknowledge();
                    throw new IllegalStateException("no stock");
                })
                .start();

        queue.time.advance(SECOND);
        assertThat(asked).containsExactly("a", "c");
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(2);
        assertThat(queue.find("c").state()).isEqualTo(State.DEAD);
    }

    @Test
    void decidesForAFailureThatIsReportedLater() {
        List<Acknowledgment> open = new ArrayList<>();
        queue.start(
                counting(ErrorAction.retryAfter(MINUTE)).ackMode(AckMode.MANUAL),
                message -> open.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);

        open.get(0).fail(new IllegalStateException("later"));
        open.get(0).fail(new IllegalStateException("too late"));
        queue.time.advance(Duration.ofSeconds(58));
        assertThat(queue.runs).hasSize(1);
        queue.time.advance(Duration.ofSeconds(3));

        assertThat(queue.runs).hasSize(2);
        assertThat(asked).containsExactly("later");
    }

    /** The first call decides, also if it takes its time. */
    @Test
    void laterCallsChangeNothingWhileItDecides() {
        List<Acknowledgment> open = new ArrayList<>();
        queue.start(
                listener().ackMode(AckMode.MANUAL).retry(THREE).errorHandler((message, error) -> {
                    asked.add(message.id());
                    Acknowledgment same = message.acknowledgment();
                    same.acknowledge();
                    same.reject(error);
                    same.fail(error, Duration.ZERO);
                    same.fail(error);
                    return ErrorAction.retryAfter(MINUTE);
                }),
                message -> open.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);

        open.get(0).fail(new IllegalStateException("no stock"));
        queue.time.advance(SECOND);

        assertThat(asked).containsExactly("a");
        assertThat(queue.events(DelayQueueEvent.Failed.class))
                .extracting(DelayQueueEvent.Failed::retryAfter)
                .containsExactly(MINUTE);
    }

    @Test
    void isNotAskedAboutDecisionsOfTheListener() {
        queue.start(counting(ErrorAction.discard()), message -> {
            if (message.attempt() == 1) {
                message.acknowledgment().fail(new IllegalStateException(), SECOND);
            } else {
                message.acknowledgment().reject(new IllegalStateException());
            }
            throw new IllegalStateException("after the decision");
        });
        queue.send("a", Duration.ZERO);

        queue.time.advance(MINUTE);
        assertThat(asked).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void isNotAskedAboutAPayloadThatCannotBeRead() {
        queue.start(counting(ErrorAction.discard()).retry(RetryPolicy.fixed(2, SECOND)), message -> {});
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "broken").id("a"));

        queue.time.advance(MINUTE);
        assertThat(asked).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void isNotAskedAboutALostMessage() {
        List<DelayMessage<String>> open = new ArrayList<>();
        queue.start(counting(ErrorAction.discard()).lease(Duration.ofSeconds(5)).ackMode(AckMode.MANUAL), open::add);
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);
        queue.line.plan(method -> FaultyStore.Fault.LOST_REQUEST);
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(open.get(0).acknowledgment().isLost()).isTrue();
        open.get(0).acknowledgment().fail(new IllegalStateException("too late"));
        assertThat(asked).isEmpty();
    }

    @Test
    void isNotAskedAboutAMessageThatAStopHasGivenUp() {
        List<DelayMessage<String>> open = new ArrayList<>();
        ListenerContainer container =
                queue.start(counting(ErrorAction.discard()).ackMode(AckMode.MANUAL), open::add);
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);

        queue.stop(container);
        open.get(0).acknowledgment().fail(new IllegalStateException("interrupted"));
        assertThat(asked).isEmpty();
        assertThat(queue.history("a").failures()).isZero();
    }

    /** One whose own methods throw, so that the failure cannot be settled. */
    private static final class Unsettleable extends CompletionException {

        Unsettleable() {
            super("no stock", null);
        }

        @Override
        public synchronized Throwable getCause() {
            throw new IllegalStateException("broken exception");
        }
    }

    /** The decision was made, and to carry it out fails. */
    @Test
    void decidesAgainAtTheEndOfTheRunIfTheFirstDecisionCannotBeCarriedOut() {
        ListenerContainer container = queue.start(
                counting(ErrorAction.byDefault()).concurrency(1).retry(RetryPolicy.fixed(2, SECOND)),
                message -> message.acknowledgment().fail(new Unsettleable()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(asked).containsExactly("no stock", "broken exception", "no stock", "broken exception");
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.lastError("a")).startsWith("java.lang.IllegalStateException: broken exception");
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        assertThat(container.busy()).isZero();
        queue.send("b", Duration.ZERO);
        queue.time.advance(SECOND);
        assertThat(queue.runIds()).containsExactly("a", "a", "b");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void givesUpAFailureAfterTheRunThatCannotBeSettled(boolean hasErrorHandler) {
        List<Acknowledgment> open = new ArrayList<>();
        ListenerEndpoint.Builder endpoint = hasErrorHandler ? counting(ErrorAction.byDefault()) : listener();
        queue.start(
                endpoint.concurrency(1).ackMode(AckMode.MANUAL).retry(THREE),
                message -> open.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);

        assertThatThrownBy(() -> open.get(0).fail(new Unsettleable())).hasMessage("broken exception");
        queue.time.advance(SECOND);

        assertThat(queue.history("a").leaseExpirations()).isEqualTo(1);
        queue.time.advance(MINUTE);
        assertThat(queue.runIds()).containsExactly("a", "a");
    }

    /** Another thread reports the failure before the method returns. */
    @ParameterizedTest
    @CsvSource({"AUTO, true", "AUTO, false", "MANUAL, true", "MANUAL, false"})
    void givesUpAFailureDuringTheRunThatCannotBeSettled(AckMode mode, boolean hasErrorHandler) {
        ListenerEndpoint.Builder endpoint = hasErrorHandler ? counting(ErrorAction.byDefault()) : listener();
        queue.start(endpoint.concurrency(1).ackMode(mode).retry(THREE), message -> {
            if (queue.runIds().size() > 1) {
                message.acknowledgment().acknowledge();
                return;
            }
            Thread other = new Thread(() -> message.acknowledgment().fail(new Unsettleable()));
            other.setUncaughtExceptionHandler((thread, error) -> {});
            other.start();
            other.join();
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(queue.runIds()).containsExactly("a", "a");
        assertThat(queue.stats().counters().leaseExpirations()).isEqualTo(1);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    /** Another thread decides while the handler fails. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void leavesNoMessageOpenIfADecisionOutlastsTheRunAndFails(boolean throwing) throws Exception {
        CountDownLatch decides = new CountDownLatch(1);
        CountDownLatch mayFail = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        queue.start(
                listener().concurrency(1).retry(THREE).errorHandler((message, error) -> {
                    decides.countDown();
                    TestQueue.awaitLatch(mayFail);
                    return ErrorAction.byDefault();
                }),
                message -> {
                    if (!threads.isEmpty()) {
                        return;
                    }
                    threads.add(new Thread(() -> message.acknowledgment().fail(new Unsettleable())));
                    threads.get(0).setUncaughtExceptionHandler((thread, error) -> {});
                    threads.get(0).start();
                    TestQueue.awaitLatch(decides);
                    if (throwing) {
                        throw new IllegalStateException("no stock");
                    }
                });
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);
        assertThat(queue.stats().inFlight()).isEqualTo(1);

        mayFail.countDown();
        threads.get(0).join();
        queue.time.advance(SECOND);

        assertThat(queue.runIds()).containsExactly("a", "a");
        assertThat(queue.stats().counters().leaseExpirations()).isEqualTo(1);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    private void fail(ListenerEndpoint.Builder endpoint) {
        start(endpoint);
        queue.send("a", Duration.ZERO);
    }

    private void start(ListenerEndpoint.Builder endpoint) {
        queue.start(endpoint, message -> {
            throw new IllegalStateException("no stock");
        });
    }

    private static ListenerEndpoint.Builder endpoint(ErrorAction action) {
        return listener().retry(THREE).errorHandler((message, error) -> action);
    }

    private ListenerEndpoint.Builder counting(@Nullable ErrorAction action) {
        ErrorHandler handler = (message, error) -> {
            asked.add(String.valueOf(error.getMessage()));
            return action;
        };
        return listener().errorHandler(handler);
    }

    private List<String> warnings() {
        return logged.list.stream()
                .map(ILoggingEvent::getFormattedMessage)
                .map(line -> line.lines().findFirst().orElse(""))
                .toList();
    }
}
