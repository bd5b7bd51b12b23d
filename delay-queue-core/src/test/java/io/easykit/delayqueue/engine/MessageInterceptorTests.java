package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.MessageInterceptor;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MessageInterceptorTests {

    private final List<String> calls = new ArrayList<>();
    private final TestQueue queue = new TestQueue(builder -> builder.interceptor(new Recorder()));

    private final class Recorder implements MessageInterceptor {

        @Override
        public List<SendResult> send(
                List<OutgoingMessage> messages, Function<List<OutgoingMessage>, List<SendResult>> send) {
            calls.add("send " + messages.size());
            List<SendResult> results = send.apply(messages.stream()
                    .map(message -> message.header("trace", "t1"))
                    .toList());
            calls.add("sent " + results.get(0).outcome());
            return results;
        }

        @Override
        public void handle(
                ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, MessageHandler.Batch<Object> handler)
                throws Exception {
            calls.add("begin " + endpoint.id() + " " + messages.get(0).headers());
            try {
                handler.handle(messages);
            } finally {
                calls.add("end");
            }
        }
    }

    @Test
    void wrapsASendAndTheCallOfTheHandler() {
        queue.start(listener(), message -> calls.add("run"));

        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(calls).containsExactly("send 1", "sent STORED", "begin close {trace=t1}", "run", "end");
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void wrapsAListOnceAndNeitherAnEmptyOneNorNull() {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "x");

        assertThat(queue.engine.template().sendAll(List.of(message, message))).hasSize(2);
        assertThat(calls).containsExactly("send 2", "sent STORED");

        assertThat(queue.engine.template().sendAll(List.of())).isEmpty();
        assertThatThrownBy(() -> queue.engine.template().sendAll(Collections.singletonList(null)))
                .hasMessageContaining("sendAll with null in its list");
        assertThatThrownBy(() -> queue.engine.template().send((OutgoingMessage) null))
                .hasMessageContaining("send(null)");
        assertThat(calls).hasSize(2);
    }

    @Test
    void seesWhatTheHandlerThrowsAndFailsTheRunIfItThrowsItself() {
        TestQueue failing = new TestQueue(builder -> builder.interceptor(new MessageInterceptor() {
            @Override
            public void handle(
                    ListenerEndpoint endpoint,
                    List<DelayMessage<Object>> messages,
                    MessageHandler.Batch<Object> handler) {
                throw new IllegalStateException("no tracer");
            }
        }));
        Stream.of(queue, failing)
                .forEach(each -> each.start(listener(), message -> {
                    throw new IllegalArgumentException("wrong order");
                }));

        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofMillis(500));
        failing.send("a", Duration.ZERO);
        failing.time.advance(Duration.ofMillis(500));

        assertThat(calls).endsWith("begin close {trace=t1}", "end");
        assertThat(queue.lastError("a")).contains("wrong order");
        assertThat(failing.lastError("a")).contains("no tracer");
        assertThat(failing.events(DelayQueueEvent.Failed.class)).hasSize(1);
    }

    @Test
    void doesNotWrapLooksForMessages() {
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofMinutes(5));

        assertThat(calls).isEmpty();
    }
}
