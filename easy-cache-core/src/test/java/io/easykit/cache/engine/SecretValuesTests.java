package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonValue;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import org.springframework.core.ParameterizedTypeReference;

/** No log line has the content of a value, not even of a broken one. */
@SuppressWarnings({"UnusedVariable", "UnusedMethod"}) // for the codec
class SecretValuesTests {

    /** Text and number of a card. */
    private static final String SECRET = "4111-2222";

    private static final String NUMBER = "41112222";

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.easykit");
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Workbench bench = new Workbench();

    record Checked(String card) {

        Checked {
            if (card.equals(SECRET)) {
                throw new IllegalArgumentException("Not a card: " + card);
            }
        }
    }

    record Day(LocalDate day) {}

    record Unit(TimeUnit unit) {}

    record Small(byte amount) {}

    record Weekdays(Map<LocalDate, String> names) {}

    record Cards(Map<String, Integer> amounts) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    interface Named {}

    static final class Text {

        private final String text;

        Text(int any, String text) {
            this.text = text + any;
        }

        @JsonValue
        String text() {
            return text;
        }
    }

    static final class Broken {

        private final String text = SECRET;

        @JsonValue
        String text() {
            if (text.equals(SECRET)) {
                throw new IllegalStateException("No text for " + text);
            }
            return text;
        }
    }

    static Stream<Arguments> unreadable() {
        return Stream.of(
                of(new ParameterizedTypeReference<Checked>() {}, "{`card`:`4111-2222`}"),
                of(new ParameterizedTypeReference<List<Checked>>() {}, "[{`card`:`4111-2222`}]"),
                of(new ParameterizedTypeReference<Day>() {}, "{`day`:`4111-2222`}"),
                of(new ParameterizedTypeReference<Unit>() {}, "{`unit`:`4111-2222`}"),
                of(new ParameterizedTypeReference<Small>() {}, "{`amount`:41112222}"),
                of(new ParameterizedTypeReference<Small>() {}, "{`amount`:`4111-2222`}"),
                of(new ParameterizedTypeReference<Small>() {}, "41112222"),
                of(new ParameterizedTypeReference<Weekdays>() {}, "{`names`:{`4111-2222`:`x`}}"),
                of(new ParameterizedTypeReference<Cards>() {}, "{`amounts`:{`4111-2222`:`x`}}"),
                of(new ParameterizedTypeReference<Map<String, Day>>() {}, "{`4111-2222`:{`day`:1.5}}"),
                of(new ParameterizedTypeReference<Named>() {}, "{`@class`:`4111-2222`}"),
                of(new ParameterizedTypeReference<Text>() {}, "`4111-2222`"),
                of(new ParameterizedTypeReference<Text>() {}, "41112222"),
                of(new ParameterizedTypeReference<Day>() {}, "{`day`:4111-2222}"),
                of(new ParameterizedTypeReference<Day>() {}, "4111-2222"));
    }

    private static Arguments of(ParameterizedTypeReference<?> type, String json) {
        return Arguments.of(type.getType(), json.replace('`', '"'));
    }

    @BeforeEach
    void listen() {
        logger.setLevel(Level.TRACE);
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(lines);
        logger.setLevel(null);
    }

    /** The store has bytes that cannot be read. */
    @ParameterizedTest
    @MethodSource("unreadable")
    void isNotLoggedOfAValueThatIsRead(Type type, String json) {
        EasyCacheEngine cache = bench.node(new FixedBytes(new JacksonValueCodec(), json, "stored"));
        CacheKey<Object> key = CacheSpec.of("any", type).key(1);
        cache.fetch(key, () -> "stored");
        cache.fetch(key, () -> "loaded");
        assertNothingIsQuoted("Cannot read the value of any::1: ");
    }

    @ParameterizedTest
    @MethodSource("unreadable")
    void isNotLoggedOfAValueThatIsStored(Type type, String json) {
        EasyCacheEngine cache = bench.node(new FixedBytes(new JacksonValueCodec(), json, ""));
        cache.fetch(CacheSpec.of("any", type).key(1), () -> "loaded");
        assertNothingIsQuoted("cannot be written and read again");
    }

    @ParameterizedTest
    @MethodSource("unwritable")
    void isNotLoggedOfAValueThatCannotBeWritten(Type type, Object value) {
        bench.node().fetch(CacheSpec.of("any", type).key(1), () -> value);
        assertNothingIsQuoted("Cannot cache a ");
    }

    static Stream<Arguments> unwritable() {
        return Stream.of(
                Arguments.of(Broken.class, new Broken()),
                Arguments.of(
                        new ParameterizedTypeReference<Map<String, Broken>>() {}.getType(),
                        Map.of(SECRET, new Broken())),
                Arguments.of(
                        new ParameterizedTypeReference<Map<String, Object>>() {}.getType(),
                        Map.of(SECRET, new Object())),
                Arguments.of(new ParameterizedTypeReference<Map<String, Object>>() {}.getType(), Map.of(SECRET, 1L)));
    }

    private void assertNothingIsQuoted(String expected) {
        assertThat(logged()).contains(expected).doesNotContain(SECRET, NUMBER, "4111");
    }

    /** Other threads may log meanwhile; an appender appends under its own lock. */
    private String logged() {
        synchronized (lines) {
            return lines.list.stream().map(SecretValuesTests::text).collect(Collectors.joining("\n"));
        }
    }

    private static String text(ILoggingEvent event) {
        IThrowableProxy failure = event.getThrowableProxy();
        return event.getFormattedMessage() + (failure == null ? "" : "\n" + ThrowableProxyUtil.asString(failure));
    }

    /** Writes the same bytes always, and can read them back only for one value, to which it sees to itself. */
    private record FixedBytes(ValueCodec codec, String json, String readable) implements ValueCodec {

        private static final ThreadLocal<Boolean> CHECKING = new ThreadLocal<>();

        @Override
        public byte[] encode(Object value, Type type) {
            if (value.equals(readable)) {
                CHECKING.set(true);
            }
            return json.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Object decode(byte[] stored, Type type) {
            if (CHECKING.get() != null) {
                CHECKING.remove();
                return readable;
            }
            return codec.decode(stored, type);
        }

        @Override
        public String describe(Throwable failure) {
            return codec.describe(failure);
        }
    }
}
