package io.easykit.delayqueue.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BaggageTests {

    private static final Acknowledgment UNUSED = (Acknowledgment) Proxy.newProxyInstance(
            Acknowledgment.class.getClassLoader(),
            new Class<?>[] {Acknowledgment.class},
            (proxy, method, arguments) -> {
                throw new AssertionError(method);
            });

    @Test
    void readsNamesAndValues() {
        assertThat(header("tenant=acme, user = J%C3%BCrgen+1%2C2 ;secret;x=y,empty="))
                .containsExactly(Map.entry("tenant", "acme"), Map.entry("user", "Jürgen+1,2"), Map.entry("empty", ""));
    }

    @Test
    void leavesOutWhatItCannotRead() {
        assertThat(header("a=%,=b,c,,d=1%2,e=5")).containsExactly(Map.entry("e", "5"));
        assertThat(header("")).isEmpty();
        assertThat(Baggage.of(messages(List.of(Map.of("tenant", "acme"))), List.of()))
                .isEmpty();
    }

    @Test
    void isLimited() {
        assertThat(header("a=" + "x".repeat(8_191))).isEmpty();
        assertThat(header(IntStream.range(0, 65).mapToObj(i -> "k" + i + "=1").collect(Collectors.joining(","))))
                .hasSize(64)
                .doesNotContainKey("k64");
    }

    @Test
    void readsRemoteFieldsFromTheirOwnHeaders() {
        assertThat(Baggage.of(
                        messages(List.of(Map.of("tenant", "acme", "other", "x", "baggage", "tenant=b,more=1"))),
                        List.of("tenant", "missing")))
                .containsOnly(Map.entry("tenant", "acme"), Map.entry("more", "1"));
    }

    @Test
    void isThatOfAllMessagesOfABatch() {
        assertThat(Baggage.of(
                        messages(List.of(
                                Map.of("tenant", "acme", "baggage", "a=1"),
                                Map.of("tenant", "acme", "baggage", "a=2"))),
                        List.of("tenant")))
                .containsOnly(Map.entry("tenant", "acme"));
    }

    private static Map<String, String> header(String value) {
        return Baggage.of(messages(List.of(Map.of("baggage", value))), List.of());
    }

    private static List<DelayMessage<Object>> messages(List<Map<String, String>> headers) {
        return headers.stream()
                .map(each -> new DelayMessage<Object>("orders", "a", "x", each, Instant.EPOCH, "a", 0, 0, 0, UNUSED))
                .toList();
    }
}
