package io.easykit.delayqueue.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.mock.env.MockEnvironment;

class ListenerSignatureTests {

    private static final Acknowledgment ACKNOWLEDGMENT = new Acknowledgment() {
        @Override
        public void acknowledge() {}

        @Override
        public void fail(Throwable error) {}

        @Override
        public void fail(Throwable error, Duration retryAfter) {}

        @Override
        public void reject(Throwable error) {}

        @Override
        public boolean isLost() {
            return false;
        }
    };

    @Test
    void takesThePayloadOfAGenericType() {
        ListenerSignature signature = single("generic");

        assertThat(signature.payloadType().getTypeName())
                .isEqualTo("java.util.Map<java.lang.String, java.util.List<java.lang.Long>>");
        assertThat(signature.manual()).isFalse();
    }

    @Test
    void takesThePayloadOutOfTheTypeOfTheMessage() {
        assertThat(single("message").payloadType())
                .isEqualTo(ResolvableType.forClassWithGenerics(List.class, String.class)
                        .getType());
    }

    @Test
    void resolvesATypeVariableByTheClassOfTheBean() {
        assertThat(single(StringListener.class, "on").payloadType()).isEqualTo(String.class);
    }

    @Test
    void givesEachParameterItsPartOfTheMessage() {
        DelayMessage<?> message = message(Map.of("tenant", "acme", "tries", "3", "trace", TRACE.toString()));

        assertThat(arguments(single("everything"), message))
                .containsExactly(
                        message,
                        "payload",
                        "acme",
                        3,
                        Optional.of(TRACE),
                        Optional.empty(),
                        null,
                        message.headers(),
                        ACKNOWLEDGMENT);
    }

    @Test
    void isManualWhereItTakesAnAcknowledgment() {
        assertThat(single("everything").manual()).isTrue();
    }

    @Test
    void refusesAMessageWithoutARequiredHeader() {
        assertThatThrownBy(() -> arguments(single("oneHeader"), message(Map.of())))
                .isInstanceOf(InvalidHeaderException.class)
                .hasMessage("The message has no header 'tries'.");
    }

    @Test
    void givesNullForAMissingHeaderOfANullableParameter() {
        assertThat(arguments(single("nullableHeader"), message(Map.of()))).containsExactly("payload", null, 7);
        assertThat(arguments(single("nullableHeader"), message(Map.of("tenant", "acme", "tries", "3"))))
                .containsExactly("payload", "acme", 3);
    }

    /** The text is kept with the message, and users who see no header values see it. */
    @Test
    void refusesAMessageWhoseHeaderIsSomethingElseWithoutQuotingIt() {
        assertThatThrownBy(() -> arguments(single("oneHeader"), message(Map.of("tries", "4711-secret"))))
                .isInstanceOf(InvalidHeaderException.class)
                .hasMessage("The header 'tries' of the message is not a valid int.")
                .hasNoCause();
    }

    @Test
    void takesTheDefaultOfAMissingHeader() {
        assertThat(arguments(single("defaults"), message(Map.of()))).containsExactly("payload", 7);
        assertThat(arguments(single("defaults"), message(Map.of("tries", "3")))).containsExactly("payload", 3);
    }

    @Test
    void takesTheNameOfAHeaderFromEitherAttribute() {
        assertThat(arguments(single("named"), message(Map.of("a", "1", "b", "2"))))
                .containsExactly("payload", "1", "2");
    }

    @Test
    void resolvesPlaceholdersInTheNameAndTheDefaultOfAHeader() {
        assertThat(arguments(single("placeholders"), message(Map.of("x-tenant", "acme"))))
                .containsExactly("payload", "acme", 9);
        assertThat(arguments(single("placeholders"), message(Map.of("x-tenant", "acme", "x-tries", "3"))))
                .containsExactly("payload", "acme", 3);
    }

    @Test
    void takesAMapOfTextsForThePayload() {
        ListenerSignature signature = single("annotatedPayload");

        assertThat(signature.payloadType().getTypeName())
                .isEqualTo("java.util.Map<java.lang.String, java.lang.String>");
        assertThat(arguments(signature, message(Map.of("a", "1")))).containsExactly("payload", Map.of("a", "1"));
    }

    @Test
    void takesABatchOfPayloadsOrOfMessages() {
        assertThat(ListenerSignature.batch(where(Methods.class, "payloads")).payloadType())
                .isEqualTo(String.class);
        assertThat(ListenerSignature.batch(where(Methods.class, "messages")).payloadType())
                .isEqualTo(String.class);
    }

    @ParameterizedTest
    @CsvSource({
        "nothing, no parameter for the payload",
        "onlyHeaders, no parameter for the payload",
        "twoPayloads, 2 parameters for the payload",
        "disagreeing, different payload types",
        "raw, type of the payload is unknown",
        "wildcard, type of the payload is unknown",
        "variable, 'type of the payload, T, is unknown'",
        "messages, inside another type",
        "primitiveMissing, may be missing",
        "inconvertible, cannot be converted to java.io.InputStream",
        "wrongMap, Map<String",
        "headerOnMap, one header",
        "expression, the expression of @Payload",
        "nameExpression, is an expression",
        "defaultExpression, is an expression",
        "unresolvedName, '@Header = \"${no.header}\" cannot be resolved'",
        "unresolvedDefault, 'defaultValue = \"${no.tries}\" cannot be resolved'",
        "emptyName, is empty",
        "wrongDefault, is no int",
    })
    void refusesWhatACallWouldNotKnowHowToFill(String method, String problem) {
        assertThatThrownBy(() -> single(method))
                .isInstanceOf(InvalidDelayListenerException.class)
                .hasMessageContaining(method + "(")
                .hasMessageContaining("bean 'methods'")
                .hasMessageContaining(problem);
    }

    @ParameterizedTest
    @CsvSource({"generic", "twoPayloads", "rawList", "nothing", "batchOfRawMessages"})
    void refusesABatchThatIsNoList(String method) {
        assertThatThrownBy(() -> ListenerSignature.batch(where(Methods.class, method)))
                .isInstanceOf(InvalidDelayListenerException.class)
                .hasMessageContaining("List<");
    }

    private static ListenerSignature single(String method) {
        return single(Methods.class, method);
    }

    private static ListenerSignature single(Class<?> type, String method) {
        ListenerMethod where = where(type, method);
        MockEnvironment environment =
                new MockEnvironment().withProperty("tenant.header", "x-tenant").withProperty("some.tries", "9");
        return ListenerSignature.single(where, new Placeholders(where, environment));
    }

    private static List<@Nullable Object> arguments(ListenerSignature signature, DelayMessage<?> message) {
        return signature.arguments().stream()
                .<@Nullable Object>map(argument -> argument.of(message))
                .toList();
    }

    private static ListenerMethod where(Class<?> type, String name) {
        Method method = Arrays.stream(type.getMethods())
                .filter(some -> some.getName().equals(name))
                .findFirst()
                .orElseThrow();
        return new ListenerMethod("methods", new Object(), type, method);
    }

    private static DelayMessage<String> message(Map<String, String> headers) {
        return new DelayMessage<>(
                "topic", "id", "payload", headers, Instant.EPOCH, "delivery", 0, 0, 0, ACKNOWLEDGMENT);
    }

    private static final UUID TRACE = new UUID(1, 2);

    public static class Methods {

        public void generic(Map<String, List<Long>> payload) {}

        public void message(DelayMessage<List<String>> message) {}

        public void everything(
                DelayMessage<String> message,
                String payload,
                @Header String tenant,
                @Header int tries,
                @Header("trace") Optional<UUID> id,
                @Header Optional<String> missing,
                @Header(value = "other", required = false) @Nullable String other,
                @Headers Map<String, String> headers,
                Acknowledgment acknowledgment) {}

        public void oneHeader(String payload, @Header int tries) {}

        public void nullableHeader(
                String payload, @Header @Nullable String tenant, @Header(defaultValue = "7") @Nullable Integer tries) {}

        public void payloads(List<String> payloads) {}

        public void messages(List<DelayMessage<String>> messages) {}

        public void nothing() {}

        public void onlyHeaders(@Header String tenant, Acknowledgment acknowledgment) {}

        public void twoPayloads(String one, Integer other) {}

        public void disagreeing(DelayMessage<String> message, Integer payload) {}

        @SuppressWarnings("rawtypes")
        public void raw(DelayMessage message) {}

        public void wildcard(DelayMessage<?> message) {}

        public <T> void variable(T payload) {}

        public void primitiveMissing(String payload, @Header(required = false) int tries) {}

        public void inconvertible(String payload, @Header InputStream stream) {}

        public void wrongMap(String payload, @Headers Map<String, Integer> headers) {}

        public void defaults(String payload, @Header(defaultValue = "7") int tries) {}

        public void named(String payload, @Header("a") String one, @Header(name = "b") String other) {}

        public void annotatedPayload(@Payload Map<String, String> payload, @Headers Map<String, Object> headers) {}

        public void headerOnMap(String payload, @Header Map<String, String> headers) {}

        public void expression(@Payload("length") String payload) {}

        public void placeholders(
                String payload,
                @Header("${tenant.header}") String tenant,
                @Header(name = "${tries.header:x-tries}", defaultValue = "${some.tries}") int tries) {}

        public void nameExpression(String payload, @Header("#{'tenant'}") String tenant) {}

        public void defaultExpression(String payload, @Header(defaultValue = "#{3}") int tries) {}

        public void unresolvedName(String payload, @Header("${no.header}") String tenant) {}

        public void unresolvedDefault(String payload, @Header(defaultValue = "${no.tries}") int tries) {}

        public void emptyName(String payload, @Header("${nothing:}") String tenant) {}

        public void wrongDefault(String payload, @Header(defaultValue = "many") int tries) {}

        @SuppressWarnings("rawtypes")
        public void rawList(List payloads) {}

        @SuppressWarnings("rawtypes")
        public void batchOfRawMessages(List<DelayMessage> messages) {}
    }

    public abstract static class GenericListener<T> {

        public void on(DelayMessage<T> message) {}
    }

    public static class StringListener extends GenericListener<String> {}
}
