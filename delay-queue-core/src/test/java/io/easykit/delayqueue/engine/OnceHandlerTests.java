package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Handlers that run once for each message, with a store in memory. */
class OnceHandlerTests {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final TestQueue queue = new TestQueue();
    private final Records records = new Records();
    private final List<String> effects = new ArrayList<>();

    private ListenerEndpoint.Builder endpoint() {
        return listener().retry(RetryPolicy.fixed(3, SECOND)).idempotencyStore(records);
    }

    private void start(MessageHandler<String> handler) {
        queue.start(endpoint(), handler);
    }

    @Test
    void recordsEachMessageByItsTopicAndDelivery() {
        start(message -> effects.add(TOPIC + " " + message.uniqueId()));

        queue.send("a", Duration.ZERO);
        queue.send("b", Duration.ZERO);
        queue.time.advance(SECOND);

        assertThat(effects).hasSize(2);
        assertThat(records.all).containsExactlyInAnyOrderElementsOf(effects);
        assertThat(queue.events(DelayQueueEvent.Repeated.class)).isEmpty();
    }

    @Test
    void acknowledgesASecondDeliveryWithoutACall() {
        start(message -> {
            effects.add(message.id());
            // The acknowledgement never arrives.
            queue.line.away();
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);
        assertThat(effects).containsExactly("a");

        startSecondNode();
        queue.time.advance(MINUTE);

        assertThat(effects).containsExactly("a");
        assertThat(queue.stats().inFlight() + queue.stats().waiting()).isZero();
        assertThat(queue.events(DelayQueueEvent.Repeated.class)).singleElement().satisfies(event -> assertThat(event)
                .isEqualTo(new DelayQueueEvent.Repeated(TOPIC, "close", "a", 1)));
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void runsAgainIfTheFirstDeliveryWasNotRecorded() {
        start(message -> {
            queue.line.away();
            throw new IllegalStateException("no stock");
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);

        startSecondNode();
        queue.time.advance(MINUTE);

        assertThat(effects).containsExactly("a");
    }

    /** The record of the first run keeps the second one out, as the lock of a database does. */
    @Test
    void runsOnceAlthoughTheLeaseIsLostWhileTheHandlerRuns() {
        start(message -> {
            effects.add("slow");
            queue.line.away();
            startSecondNode();
            queue.time.advance(Duration.ofSeconds(32));
            assertThat(message.acknowledgment().isLost()).isTrue();
            assertThat(records.refusals).isPositive();
            assertThat(queue.events(DelayQueueEvent.Failed.class)).isEmpty();
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(effects).containsExactly("slow");
        assertThat(queue.events(DelayQueueEvent.Repeated.class)).hasSize(1);
        assertThat(queue.stats().inFlight() + queue.stats().waiting()).isZero();
    }

    private void startSecondNode() {
        DelayQueueEngine second = queue.builder(queue.time.node(), queue.memory).build();
        queue.start(second, endpoint(), message -> effects.add(message.id()));
    }

    @Test
    void runsAgainIfTheIdIsSentAgain() {
        start(message -> effects.add(message.id()));

        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);

        assertThat(effects).containsExactly("a", "a");
    }

    @Test
    void aDeadLetterThatIsRedrivenIsTheSameMessage() {
        records.afterCommit = () -> {
            throw new IllegalStateException("after the commit");
        };
        queue.start(endpoint().retry(RetryPolicy.fixed(1, SECOND)), message -> effects.add(message.id()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);

        queue.engine.admin().redrive(TOPIC, "a", queue.find("a").at());
        queue.time.advance(SECOND);

        assertThat(effects).containsExactly("a");
        assertThat(queue.events(DelayQueueEvent.Repeated.class)).hasSize(1);
    }

    static Stream<Exception> errors() {
        return Stream.of(new IllegalStateException("no stock"), new IOException("checked"));
    }

    @ParameterizedTest
    @MethodSource("errors")
    void recordsNothingOfARunThatFails(Exception error) {
        start(message -> {
            effects.add(message.id());
            if (effects.size() < 3) {
                throw error;
            }
        });

        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(effects).containsExactly("a", "a", "a");
        assertThat(records.rolledBack).isEqualTo(2);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void recordsNothingOfAnError() {
        start(message -> {
            throw new AssertionError("no");
        });

        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(records.all).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void decidesAboutAnErrorAfterTheRollback() {
        List<Integer> rolledBack = new ArrayList<>();
        queue.start(
                endpoint().errorHandler((message, error) -> {
                    rolledBack.add(records.rolledBack);
                    return ErrorAction.discard();
                }),
                message -> {
                    throw new IllegalStateException("gone");
                });

        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(rolledBack).containsExactly(1);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
        assertThat(records.all).isEmpty();
    }

    @Test
    void acknowledgesAfterTheCommit() {
        List<State> states = new ArrayList<>();
        records.afterCommit = () -> {
            queue.time.advance(SECOND);
            states.add(queue.find("a").state());
        };
        start(message -> message.acknowledgment().acknowledge());

        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(states).containsExactly(State.IN_FLIGHT);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void rollsBackWhatTheHandlerSettlesAsFailed() {
        start(message -> {
            effects.add("run");
            if (effects.size() == 1) {
                message.acknowledgment().fail(new IllegalStateException("later"), MINUTE);
                message.acknowledgment().acknowledge();
            }
        });

        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(59));
        assertThat(records.all).isEmpty();
        assertThat(queue.lastError("a")).contains("later");

        queue.time.advance(MINUTE);
        assertThat(effects).hasSize(2);
        assertThat(records.all).hasSize(1);
    }

    @Test
    void rollsBackWhatTheHandlerRejects() {
        start(message -> message.acknowledgment().reject(new IllegalStateException("never")));

        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);

        assertThat(records.all).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    /** The effect is rolled back, so the message must not be acknowledged. */
    @Test
    void failsAfterAnExceptionBehindAnAcknowledgement() {
        start(message -> {
            effects.add("run");
            message.acknowledgment().acknowledge();
            if (effects.size() == 1) {
                throw new IllegalStateException("late");
            }
        });

        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(effects).hasSize(2);
    }

    @Test
    void ignoresASettlementAfterTheEndOfTheHandler() {
        List<Runnable> late = new ArrayList<>();
        records.beforeCommit = () -> late.forEach(Runnable::run);
        start(message -> late.add(() -> message.acknowledgment().fail(new IllegalStateException("late"))));

        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(records.all).hasSize(1);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void skipsAMessageWhoseInterceptorFailedAfterTheCommit() {
        TestQueue intercepted =
                new TestQueue(builder -> builder.listenerInterceptors(() -> List.of((endpoint, messages, handler) -> {
                    handler.handle(messages);
                    effects.add("records " + records.all.size());
                    if (messages.get(0).failures() == 0) {
                        throw new IllegalStateException("after the commit");
                    }
                })));
        intercepted.start(endpoint(), message -> effects.add("run"));

        intercepted.send("a", Duration.ZERO);
        intercepted.time.advance(MINUTE);

        assertThat(effects).containsExactly("run", "records 1", "records 1");
        assertThat(intercepted.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void aFailureOfTheStoreBeforeTheHandlerCostsNoAttempt() {
        records.beforeBegin = () -> {
            throw new IllegalStateException("database away");
        };
        List<Throwable> decided = new ArrayList<>();
        queue.start(
                endpoint()
                        .retry(RetryPolicy.fixed(1, SECOND))
                        .notRetried(List.of(Exception.class))
                        .errorHandler((message, error) -> {
                            decided.add(error);
                            return ErrorAction.dead();
                        }),
                message -> effects.add(message.id() + " " + message.attempt()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofMinutes(30));
        assertThat(decided).isEmpty();
        assertThat(queue.find("a").state()).isEqualTo(State.WAITING);
        assertThat(queue.events(DelayQueueEvent.Failed.class)).isEmpty();
        // 1, 2, 4, 8, 16 and 32 seconds, then each minute.
        assertThat(queue.events(DelayQueueEvent.Delivered.class)).hasSizeBetween(30, 40);

        records.beforeBegin = null;
        queue.time.advance(MINUTE);

        assertThat(effects).containsExactly("a 1");
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void aStoreThatIsAwayAtTheCommitCostsNoAttempt() {
        List<Integer> runs = new ArrayList<>();
        records.beforeCommit = () -> {
            runs.add(1);
            if (runs.size() <= 3) {
                throw new IdempotencyStore.UnavailableException("commit", new IOException("connection lost"));
            }
        };
        queue.start(endpoint().retry(RetryPolicy.fixed(1, SECOND)), message -> effects.add(message.id()));

        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(effects).hasSize(4);
        assertThat(queue.events(DelayQueueEvent.Failed.class)).isEmpty();
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    /** Otherwise it would run for ever. */
    @Test
    void aHandlerThatBreaksTheConnectionEachTimeBecomesADeadLetter() {
        records.beforeCommit = () -> {
            throw new IdempotencyStore.UnavailableException("commit", new IOException("connection lost"));
        };
        queue.start(endpoint().retry(RetryPolicy.fixed(2, SECOND)), message -> effects.add(message.id()));

        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofHours(1));

        assertThat(effects).hasSize(OnceHandler.MOST_RELEASES + 2);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void whatTheHandlerThrowsIsItsOwnFailure() {
        start(message -> {
            effects.add(message.id());
            throw new IdempotencyStore.UnavailableException("of another store", new IOException("connection lost"));
        });

        queue.send("a", Duration.ZERO);
        queue.time.advance(MINUTE);

        assertThat(effects).hasSize(3);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
    }

    @Test
    void anInterceptorThatIgnoresAFailureOfTheStoreAcknowledgesNothing() {
        TestQueue intercepted =
                new TestQueue(builder -> builder.listenerInterceptors(() -> List.of((endpoint, messages, handler) -> {
                    try {
                        handler.handle(messages);
                    } catch (IllegalStateException ignored) {
                        effects.add("ignored");
                    }
                })));
        records.beforeBegin = () -> {
            records.beforeBegin = null;
            throw new IllegalStateException("database away");
        };
        intercepted.start(endpoint(), message -> effects.add("run"));

        intercepted.send("a", Duration.ZERO);
        intercepted.time.advance(MINUTE);

        assertThat(effects).containsExactly("ignored", "run");
    }

    /** A store with transactions of one thread. */
    private static final class Records implements IdempotencyStore {

        private final Set<String> all = new LinkedHashSet<>();
        private final Set<String> running = new LinkedHashSet<>();
        private int rolledBack;
        private int refusals;
        private @Nullable Runnable beforeBegin;
        private @Nullable Runnable beforeCommit;
        private @Nullable Runnable afterCommit;

        @Override
        public boolean runOnce(String topic, String uniqueId, Work handler) throws Exception {
            String key = topic + " " + uniqueId;
            runIfSet(beforeBegin);
            if (all.contains(key)) {
                return false;
            }
            if (!running.add(key)) {
                refusals++;
                throw new IllegalStateException("locked");
            }
            try {
                handler.run();
                runIfSet(beforeCommit);
                all.add(key);
            } finally {
                running.remove(key);
                rolledBack += all.contains(key) ? 0 : 1;
            }
            runIfSet(afterCommit);
            return true;
        }

        private static void runIfSet(@Nullable Runnable hook) {
            if (hook != null) {
                hook.run();
            }
        }
    }
}
