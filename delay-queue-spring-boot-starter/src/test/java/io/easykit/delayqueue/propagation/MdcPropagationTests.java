package io.easykit.delayqueue.propagation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

class MdcPropagationTests {

    private static final Acknowledgment UNUSED = (Acknowledgment) Proxy.newProxyInstance(
            Acknowledgment.class.getClassLoader(),
            new Class<?>[] {Acknowledgment.class},
            (proxy, method, arguments) -> {
                throw new AssertionError(method);
            });
    private static final ListenerEndpoint ENDPOINT =
            ListenerEndpoint.builder("close", "orders", String.class).build();

    private final MdcPropagation propagation = new MdcPropagation(List.of("tenant", "request"));
    private final List<@Nullable String> seen = new ArrayList<>();

    @AfterEach
    void clear() {
        MDC.clear();
    }

    @Test
    void sendsTheEntriesOfTheSettingAndNoOthers() {
        MDC.put("tenant", "acme");
        MDC.put("password", "secret");

        assertThat(sent(OutgoingMessage.of("orders", "x").header("own", "1")))
                .containsExactly(Map.entry("own", "1"), Map.entry("mdc.tenant", "acme"));
    }

    @Test
    void keepsAHeaderThatTheApplicationHasSet() {
        MDC.put("tenant", "acme");

        assertThat(sent(OutgoingMessage.of("orders", "x").header("mdc.tenant", "other")))
                .containsExactly(Map.entry("mdc.tenant", "other"));
    }

    @Test
    void leavesOutValuesThatAreTooLongOrNoText() {
        MDC.put("tenant", "x".repeat(MdcPropagation.MAX_LENGTH + 1));
        MDC.put("request", "\ud800");

        assertThat(sent(OutgoingMessage.of("orders", "x"))).isEmpty();
        MDC.put("tenant", "x".repeat(MdcPropagation.MAX_LENGTH));
        assertThat(sent(OutgoingMessage.of("orders", "x"))).containsOnlyKeys("mdc.tenant");
    }

    @Test
    void setsTheEntriesForTheHandlerAndRestoresThoseOfTheThread() throws Exception {
        MDC.put("tenant", "of the thread");
        MDC.put("request", "of the thread");
        MDC.put("other", "stays");

        handle(List.of(Map.of("mdc.tenant", "acme", "mdc.password", "secret")));

        assertThat(seen).containsExactly("acme", null, "stays", null);
        assertThat(MDC.getCopyOfContextMap())
                .containsOnly(
                        Map.entry("tenant", "of the thread"),
                        Map.entry("request", "of the thread"),
                        Map.entry("other", "stays"));
    }

    @Test
    void removesTheEntriesAfterAHandlerThatThrowsOrChangesThem() {
        assertThatThrownBy(() -> propagation.handle(ENDPOINT, List.of(message(Map.of("mdc.tenant", "acme"))), batch -> {
                    MDC.put("request", "changed");
                    throw new IllegalStateException("failed");
                }))
                .hasMessage("failed");

        assertThat(MDC.get("tenant")).isNull();
        assertThat(MDC.get("request")).isNull();
    }

    @Test
    void setsForABatchWhatAllItsMessagesHave() throws Exception {
        handle(List.of(
                Map.of("mdc.tenant", "acme", "mdc.request", "1"),
                Map.of("mdc.tenant", "acme", "mdc.request", "2"),
                Map.of("mdc.tenant", "acme")));

        assertThat(seen).containsExactly("acme", null, null, null);
    }

    private Map<String, String> sent(OutgoingMessage message) {
        List<OutgoingMessage> sent = new ArrayList<>();
        propagation.send(List.of(message), messages -> {
            sent.addAll(messages);
            return List.of(new SendResult("orders", "a", SendOutcome.STORED));
        });
        return sent.get(0).headers();
    }

    private void handle(List<Map<String, String>> headers) throws Exception {
        List<DelayMessage<Object>> messages =
                headers.stream().map(MdcPropagationTests::message).toList();
        propagation.handle(ENDPOINT, messages, batch -> {
            assertThat(batch).isSameAs(messages);
            seen.addAll(Arrays.asList(MDC.get("tenant"), MDC.get("request"), MDC.get("other"), MDC.get("password")));
        });
    }

    private static DelayMessage<Object> message(Map<String, String> headers) {
        return new DelayMessage<>("orders", "a", "x", headers, Instant.EPOCH, "a", 0, 0, 0, UNUSED);
    }
}
