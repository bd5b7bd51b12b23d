package io.easykit.console.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.support.Bytes;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.convert.DurationStyle;

class LocalListenersTests {

    private static final Bytes BODY = Bytes.of(new byte[] {'{', '}'});

    @ParameterizedTest
    @CsvSource({"PT1.5S, 1500ms", "PT90S, 90s", "PT30M, 30m", "PT36H, 36h", "P7D, 7d"})
    void showsADurationAsAPropertiesFileTakesIt(Duration duration, String text) {
        ListenerEndpoint endpoint = ListenerEndpoint.builder("reminders", "reminder", String.class)
                .deadLetterRetention(duration)
                .build();
        LocalListeners listeners = new LocalListeners(() -> List.of(endpoint), null, (topic, setting) -> null);

        List<Map<String, @Nullable Object>> shown = listeners.settings("reminder");

        assertThat(shown)
                .filteredOn(row -> "dead-letter-retention".equals(row.get("name")))
                .extracting(row -> row.get("value"))
                .containsExactly(text);
        assertThat(DurationStyle.detectAndParse(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @MethodSource("unreadable")
    void reportsABodyWhoseTypeFails(Throwable failure) {
        LocalListeners listeners = listeners(
                failure, ListenerEndpoint.builder("a", "charge", Charge.class).build());

        assertThat(listeners.readable("charge", BODY, true)).containsEntry("ok", false);
        assertThat(listeners.readable("charge", BODY, false)).containsEntry("ok", false);
    }

    static List<Throwable> unreadable() {
        return List.of(
                new IllegalArgumentException("no charge"),
                new NoClassDefFoundError("Currency"),
                new AssertionError("negative"),
                new StackOverflowError());
    }

    /** As one whose text reads a field that is null. */
    @Test
    void reportsABodyWhoseExceptionHasNoText() {
        RuntimeException failure = new IllegalStateException() {
            private static final long serialVersionUID = 1L;

            @Override
            public String getMessage() {
                throw new NullPointerException("no text");
            }
        };
        LocalListeners listeners = listeners(
                failure, ListenerEndpoint.builder("a", "charge", Charge.class).build());

        assertThat(listeners.readable("charge", BODY, true)).containsEntry("ok", false);
    }

    @Test
    void leavesOtherErrorsOfTheVirtualMachineToTheCaller() {
        LocalListeners listeners = listeners(
                new InternalError("of the test"),
                ListenerEndpoint.builder("a", "charge", Charge.class).build());

        assertThatThrownBy(() -> listeners.readable("charge", BODY, true)).isInstanceOf(InternalError.class);
    }

    /** Its handler runs with a payload of null. */
    @Test
    void reportsNoUnreadableBodyToAListenerOfDeadLetters() {
        ListenerEndpoint endpoint =
                ListenerEndpoint.deadLetters("a", "charge", Charge.class).build();
        LocalListeners listeners = listeners(new IllegalArgumentException("no charge"), endpoint);

        assertThat(listeners.readable(endpoint.topic(), Bytes.NONE, true)).isEqualTo(Map.of("ok", true));
        assertThat(listeners.readable(endpoint.topic(), BODY, true)).isEqualTo(Map.of("ok", true));
    }

    private static LocalListeners listeners(Throwable failure, ListenerEndpoint endpoint) {
        return new LocalListeners(() -> List.of(endpoint), new FailingCodec(failure), (listener, setting) -> null);
    }

    private record Charge(long cents) {}

    private record FailingCodec(Throwable failure) implements PayloadCodec {

        @Override
        public Bytes encode(Object payload) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Object decode(Bytes body, Type type) {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        }
    }

    @Test
    void showsABackOff() {
        assertThat(LocalListeners.backOff(RetryPolicy.fixed(5, Duration.ofMillis(1500))))
                .isEqualTo("1500ms");
        assertThat(LocalListeners.backOff(RetryPolicy.exponential(5, Duration.ofSeconds(1), Duration.ofMinutes(1))))
                .isEqualTo("1s × 2 up to 1m");
    }
}
