package io.easykit.delayqueue.observation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.StoreUnavailableException;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ObservedMessagesTests {

    private static final Acknowledgment UNUSED = (Acknowledgment) Proxy.newProxyInstance(
            Acknowledgment.class.getClassLoader(),
            new Class<?>[] {Acknowledgment.class},
            (proxy, method, arguments) -> {
                throw new AssertionError(method);
            });

    private final List<Observation.Context> stopped = new ArrayList<>();
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final ObservedMessages observed = new ObservedMessages(registry, Tracing.LINK);

    ObservedMessagesTests() {
        registry.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public void onStop(Observation.Context context) {
                stopped.add(context);
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    private static List<SendResult> results(List<OutgoingMessage> messages) {
        return messages.stream()
                .map(message -> new SendResult(message.topic(), "generated", SendOutcome.STORED))
                .toList();
    }

    private String value(String key) {
        KeyValue found = stopped.get(stopped.size() - 1).getAllKeyValues().stream()
                .filter(each -> each.getKey().equals(key))
                .findFirst()
                .orElse(null);
        return Objects.requireNonNull(found, key).getValue();
    }

    @Test
    void observesNothingIfOffOrWithoutARegistry() {
        List<OutgoingMessage> messages = List.of(OutgoingMessage.of("orders", "x"));

        new ObservedMessages(registry, Tracing.OFF).send(messages, ObservedMessagesTests::results);
        new ObservedMessages(ObservationRegistry.NOOP, Tracing.LINK).send(messages, ObservedMessagesTests::results);

        assertThat(stopped).isEmpty();
    }

    @Test
    void leavesMessagesAloneIfNothingPropagates() {
        List<OutgoingMessage> messages = List.of(OutgoingMessage.of("orders", "x"));

        observed.send(messages, sent -> {
            assertThat(sent).isSameAs(messages);
            return results(sent);
        });

        assertThat(stopped).singleElement().satisfies(context -> {
            assertThat(context.getName()).isEqualTo("delayqueue.send");
            assertThat(context.getContextualName()).isEqualTo("send orders");
        });
        assertThat(value("messaging.destination.name")).isEqualTo("orders");
        assertThat(value("messaging.message.id")).isEqualTo("generated");
    }

    @Test
    void namesACallWithSeveralTopics() {
        observed.send(
                List.of(OutgoingMessage.of("a", "x"), OutgoingMessage.of("b", "x")), ObservedMessagesTests::results);

        assertThat(stopped.get(0).getContextualName()).isEqualTo("send several");
        assertThat(value("messaging.destination.name")).isEqualTo("several");
        assertThat(value("messaging.batch.message_count")).isEqualTo("2");
    }

    @Test
    void keepsTheNumberOfTagsBounded() {
        for (int i = 0; i < 300; i++) {
            observed.send(List.of(OutgoingMessage.of("topic-" + i, "x")), ObservedMessagesTests::results);
        }

        assertThat(value("messaging.destination.name")).isEqualTo("other");
        assertThat(stopped.get(299).getContextualName()).isEqualTo("send topic-299");
        observed.send(List.of(OutgoingMessage.of("topic-7", "x")), ObservedMessagesTests::results);
        assertThat(value("messaging.destination.name")).isEqualTo("topic-7");
    }

    private static DelayMessage<Object> delivered(String id, Map<String, String> headers) {
        return new DelayMessage<>("orders", id, "x", headers, Instant.EPOCH, id, 0, 0, 0, UNUSED);
    }

    private static HandleContext child(List<DelayMessage<Object>> messages) {
        ListenerEndpoint endpoint =
                ListenerEndpoint.builder("close", "orders", String.class).build();
        return new HandleContext(endpoint, messages, "orders", Tracing.CHILD);
    }

    /** As messages that were sent before tracing was on. */
    @Test
    void aBatchIsAChildOfItsOnlyTraceWhereverItIs() {
        DelayMessage<Object> traced = delivered(
                "traced",
                Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "baggage", "a=1"));
        List<DelayMessage<Object>> messages = List.of(
                delivered("without", Map.of("tenant", "acme")), delivered("wrong", Map.of("traceparent", "?")), traced);

        assertThat(child(List.of(traced)).getCarrier()).isEqualTo(traced.headers());
        assertThat(child(messages).getCarrier())
                .as("not the baggage of one message for all")
                .containsExactly(Map.entry("traceparent", traced.headers().get("traceparent")));
        assertThat(child(messages).isLinked()).isFalse();
        assertThat(child(messages.subList(0, 2)).getCarrier()).isEmpty();
    }

    @Test
    void throwsWhatTheSendThrowsAndRecordsIt() {
        StoreUnavailableException away = new StoreUnavailableException("away", new IllegalStateException());

        assertThatThrownBy(() ->
                        observed.send(List.of(OutgoingMessage.of("orders", "x").id("own")), sent -> {
                            throw away;
                        }))
                .isSameAs(away);
        assertThat(stopped).singleElement().satisfies(context -> assertThat(context.getError())
                .isSameAs(away));
        assertThat(value("messaging.message.id")).isEqualTo("own");
    }
}
