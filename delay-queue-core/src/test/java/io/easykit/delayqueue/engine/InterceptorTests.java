package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.SendInterceptor;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class InterceptorTests {

    private final List<String> calls = new ArrayList<>();
    private final TestQueue queue =
            queue(List.of(sends("outer"), sends("inner")), List.of(deliveries("outer"), deliveries("inner")));

    private static TestQueue queue(List<SendInterceptor> sends, List<DelayListenerInterceptor> deliveries) {
        return new TestQueue(builder -> builder.sendInterceptors(() -> sends).listenerInterceptors(() -> deliveries));
    }

    private SendInterceptor sends(String name) {
        return (messages, send) -> {
            calls.add(name + " sends " + messages.size());
            List<SendResult> results = send.apply(
                    messages.stream().map(message -> message.header(name, "h")).toList());
            calls.add(name + " sent " + results.get(0).outcome());
            return results;
        };
    }

    private DelayListenerInterceptor deliveries(String name) {
        return (endpoint, messages, handler) -> {
            calls.add(name + " begins " + endpoint.id() + " " + messages.get(0).headers());
            try {
                handler.handle(messages);
            } finally {
                calls.add(name + " ends");
            }
        };
    }

    @Test
    void wrapsASendAndTheCallOfTheHandlerInOrder() {
        queue.start(listener(), message -> calls.add("run"));

        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(calls)
                .containsExactly(
                        "outer sends 1",
                        "inner sends 1",
                        "inner sent STORED",
                        "outer sent STORED",
                        "outer begins close {outer=h, inner=h}",
                        "inner begins close {outer=h, inner=h}",
                        "run",
                        "inner ends",
                        "outer ends");
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void wrapsAListOnceAndNeitherAnEmptyOneNorNull() {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "x");

        assertThat(queue.engine.template().sendAll(List.of(message, message))).hasSize(2);
        assertThat(calls).containsExactly("outer sends 2", "inner sends 2", "inner sent STORED", "outer sent STORED");

        assertThat(queue.engine.template().sendAll(List.of())).isEmpty();
        assertThatThrownBy(() -> queue.engine.template().sendAll(Collections.singletonList(null)))
                .hasMessageContaining("sendAll with null in its list");
        assertThatThrownBy(() -> queue.engine.template().send((OutgoingMessage) null))
                .hasMessageContaining("send(null)");
        assertThat(calls).hasSize(4);
    }

    @Test
    void changesEachMessageAndRefusesByAnException() {
        TestQueue changed = queue(
                List.of(SendInterceptor.forEach(message -> {
                    if (message.payload().equals("forbidden")) {
                        throw new IllegalArgumentException("not allowed");
                    }
                    return message.id("own-" + message.payload()).after(Duration.ofHours(1));
                })),
                List.of());

        assertThat(changed.engine
                        .template()
                        .sendAll(List.of(OutgoingMessage.of(TOPIC, "a"), OutgoingMessage.of(TOPIC, "b"))))
                .extracting(SendResult::id)
                .containsExactly("own-a", "own-b");
        assertThatThrownBy(() -> changed.engine
                        .template()
                        .sendAll(List.of(OutgoingMessage.of(TOPIC, "c"), OutgoingMessage.of(TOPIC, "forbidden"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("not allowed");
        assertThat(changed.stats().waiting()).isEqualTo(2);
    }

    static Stream<SendInterceptor> changesThatAreNotAllowed() {
        return Stream.of(
                (messages, send) -> send.apply(List.of()),
                (messages, send) -> send.apply(List.of(messages.get(0), messages.get(0))),
                (messages, send) -> send.apply(List.of(OutgoingMessage.of("another", "x"))));
    }

    @ParameterizedTest
    @MethodSource("changesThatAreNotAllowed")
    void refusesOtherTopicsAndAnotherNumberOfMessages(SendInterceptor wrong) {
        TestQueue refused = queue(List.of(wrong), List.of());

        assertThatThrownBy(() -> refused.send("a", Duration.ZERO))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has changed the topics or the number of the messages, and nothing was sent");
        assertThat(refused.stats().waiting()).isZero();
    }

    @Test
    void refusesAnInterceptorThatSendsNothingWithoutAnException() {
        TestQueue refused = queue(List.of((messages, send) -> List.of()), List.of());

        assertThatThrownBy(() -> refused.send("a", Duration.ZERO))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("did not return one result for each message");
    }

    @Test
    void refusesMadeUpResults() {
        TestQueue refused = queue(
                List.of((messages, send) -> messages.stream()
                        .map(message -> new SendResult(message.topic(), "a", SendOutcome.STORED))
                        .toList()),
                List.of());

        assertThatThrownBy(() -> refused.send("a", Duration.ZERO))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("did not return one result for each message");
    }

    @Test
    void refusesASecondSendOfTheSameMessages() {
        TestQueue refused = queue(
                List.of((messages, send) -> {
                    List<SendResult> first = send.apply(messages);
                    return first.isEmpty() ? first : send.apply(messages);
                }),
                List.of());

        assertThatThrownBy(() -> refused.engine.template().send(TOPIC, "x"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has called the send twice")
                .hasMessageContaining("sendTimeout");
        assertThat(refused.stats().waiting()).isEqualTo(1);
    }

    /** The transaction of the caller is bound to its thread. */
    @Test
    void refusesASendOnAnotherThread() {
        TestQueue refused = queue(
                List.of((messages, send) -> CompletableFuture.supplyAsync(() -> send.apply(messages))
                        .join()),
                List.of());

        assertThatThrownBy(() -> refused.send("a", Duration.ZERO))
                .hasRootCauseInstanceOf(IllegalStateException.class)
                .hasStackTraceContaining("has called the send on another thread");
        assertThat(refused.stats().waiting()).isZero();
    }

    @Test
    void refusesAListThatIsChangedInPlace() {
        TestQueue refused = queue(
                List.of((messages, send) -> {
                    messages.remove(0);
                    return send.apply(messages);
                }),
                List.of());
        List<OutgoingMessage> own =
                new ArrayList<>(List.of(OutgoingMessage.of(TOPIC, "a"), OutgoingMessage.of(TOPIC, "b")));

        assertThatThrownBy(() -> refused.engine.template().sendAll(own))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(own).hasSize(2);
        assertThat(refused.stats().waiting()).isZero();
    }

    @Test
    void refusesAnInterceptorThatReturnsNoMessage() {
        TestQueue refused = queue(List.of(SendInterceptor.forEach(message -> null)), List.of());

        assertThatThrownBy(() -> refused.send("a", Duration.ZERO))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has changed the topics or the number of the messages");
    }

    /** Messages that it leaves out would be acknowledged without a run. */
    @Test
    void failsABatchThatAnInterceptorPassesOnInPart() {
        TestQueue batches =
                queue(List.of(), List.of((endpoint, messages, handler) -> handler.handle(messages.subList(0, 1))));
        batches.engine
                .batchContainer(
                        listener()
                                .batchSize(10)
                                .retry(RetryPolicy.fixed(2, Duration.ofHours(1)))
                                .build(),
                        messages -> calls.add("run of " + messages.size()))
                .start();
        Stream.of("a", "b", "c").forEach(id -> batches.send(id, Duration.ofSeconds(1)));
        batches.time.advance(Duration.ofSeconds(2));

        assertThat(calls).isEmpty();
        assertThat(batches.stats().counters().acknowledged()).isZero();
        assertThat(batches.lastError("a")).contains("has called the handler with other messages than its own");
    }

    @Test
    void failsARunWhoseInterceptorCallsTheHandlerTwice() {
        TestQueue twice = queue(List.of(), List.of((endpoint, messages, handler) -> {
            handler.handle(messages);
            handler.handle(messages);
        }));
        twice.start(listener().retry(RetryPolicy.fixed(2, Duration.ofHours(1))), message -> calls.add("run"));
        twice.send("a", Duration.ZERO);
        twice.time.advance(Duration.ofMillis(500));

        assertThat(calls).containsExactly("run");
        assertThat(twice.lastError("a")).contains("has called the handler twice");
    }

    @Test
    void failsARunWhoseInterceptorRepeatsAHandlerThatHasThrown() {
        TestQueue repeated = queue(List.of(), List.of((endpoint, messages, handler) -> {
            try {
                handler.handle(messages);
            } catch (IllegalArgumentException e) {
                handler.handle(messages);
            }
        }));
        repeated.start(listener().retry(RetryPolicy.fixed(2, Duration.ofHours(1))), message -> {
            calls.add("run");
            throw new IllegalArgumentException("no");
        });
        repeated.send("a", Duration.ZERO);
        repeated.time.advance(Duration.ofMillis(500));

        assertThat(calls).containsExactly("run");
        assertThat(repeated.lastError("a")).contains("has called the handler twice");
    }

    @Test
    void failsARunWhoseInterceptorCallsTheHandlerOnAnotherThread() {
        TestQueue elsewhere = queue(List.of(), List.of((endpoint, messages, handler) -> {
            ExecutorService threads = Executors.newSingleThreadExecutor();
            try {
                threads.submit(() -> {
                            handler.handle(messages);
                            return null;
                        })
                        .get();
            } finally {
                threads.shutdown();
            }
        }));
        elsewhere.start(listener(), message -> calls.add("run"));
        elsewhere.send("a", Duration.ZERO);
        elsewhere.time.advance(Duration.ofMillis(500));

        assertThat(calls).isEmpty();
        assertThat(elsewhere.lastError("a")).contains("has called the handler on another thread");
    }

    @Test
    void seesWhatTheHandlerThrowsAndFailsTheRunIfItThrowsItself() {
        TestQueue failing = queue(List.of(), List.of((endpoint, messages, handler) -> {
            throw new IllegalStateException("no tracer");
        }));
        Stream.of(queue, failing)
                .forEach(each -> each.start(listener(), message -> {
                    throw new IllegalArgumentException("wrong order");
                }));

        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofMillis(500));
        failing.send("a", Duration.ZERO);
        failing.time.advance(Duration.ofMillis(500));

        assertThat(calls).endsWith("inner ends", "outer ends");
        assertThat(queue.lastError("a")).contains("wrong order");
        assertThat(failing.lastError("a")).contains("no tracer");
        assertThat(failing.events(DelayQueueEvent.Failed.class)).hasSize(1);
    }

    @Test
    void acknowledgesIfItReturnsWithoutCallingTheHandlerUnlessTheListenerSettlesItself() {
        TestQueue skipped = queue(List.of(), List.of((endpoint, messages, handler) -> {}));
        skipped.start(listener(), message -> {});
        skipped.send("a", Duration.ZERO);
        skipped.time.advance(Duration.ofSeconds(1));
        assertThat(skipped.runs).isEmpty();
        assertThat(skipped.stats().counters().acknowledged()).isEqualTo(1);

        TestQueue manual = queue(List.of(), List.of((endpoint, messages, handler) -> {}));
        manual.start(listener().ackMode(AckMode.MANUAL), message -> {});
        manual.send("a", Duration.ZERO);
        manual.time.advance(Duration.ofSeconds(1));
        assertThat(manual.stats().inFlight()).isEqualTo(1);
    }

    @Test
    void doesNotWrapClaimsRetriesAndRedrivesAsSends() {
        queue.start(listener().retry(RetryPolicy.fixed(2, Duration.ofSeconds(1))), message -> {
            throw new IllegalStateException();
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofMinutes(5));
        assertThat(queue.engine.admin().redrive(TOPIC, "a", queue.find("a").at()))
                .isTrue();
        queue.time.advance(Duration.ofMinutes(5));

        assertThat(queue.runs).hasSize(4);
        assertThat(calls).filteredOn(call -> call.contains("sends")).hasSize(2);
    }

    @Test
    void isSuppliedAtTheFirstCallAndAgainAfterAFailure() {
        List<String> supplied = new ArrayList<>();
        TestQueue late = new TestQueue(builder -> builder.sendInterceptors(() -> {
            supplied.add("call");
            if (supplied.size() == 1) {
                throw new IllegalStateException("a bean is missing");
            }
            return List.of(sends("late"));
        }));
        assertThat(supplied).isEmpty();

        assertThatThrownBy(() -> late.send("a", Duration.ZERO)).hasMessage("a bean is missing");
        assertThat(late.stats().waiting()).isZero();
        late.send("a", Duration.ZERO);
        late.send("b", Duration.ZERO);
        assertThat(supplied).hasSize(2);
        assertThat(calls).contains("late sends 1");
    }
}
