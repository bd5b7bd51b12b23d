package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Operation;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import org.springframework.core.ParameterizedTypeReference;

/** A value that the codec would change is not stored, and one log line reports it. */
@SuppressWarnings("UnusedVariable") // fields are for the codec
class VerifyingEncoderTests {

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final Logger logger = (Logger) LoggerFactory.getLogger(VerifyingEncoder.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    static class Base {

        public String name = "a";
    }

    static class Sub extends Base {

        public String more = "b";
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    static class Named {

        public String name = "a";
    }

    static class NamedSub extends Named {

        public String more = "b";
    }

    record Point(int x, int y) {}

    static class WithTransient {

        public transient String token = "";
    }

    static class Token extends WithTransient {

        public String name = "a";

        Token with(String value) {
            token = value;
            return this;
        }
    }

    record Empty() {}

    /** Jackson takes its constructor for one from a plain text, so the start finds nothing. */
    static class OneText {

        final String name;

        OneText(String other) {
            this.name = other;
        }
    }

    @BeforeEach
    void listen() {
        logger.setLevel(ch.qos.logback.classic.Level.WARN);
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(lines);
    }

    private static Arguments of(ParameterizedTypeReference<?> type, Supplier<Object> value) {
        return Arguments.of(type.getType(), value);
    }

    static Stream<Arguments> changing() {
        return Stream.of(
                of(new ParameterizedTypeReference<Base>() {}, Sub::new),
                of(new ParameterizedTypeReference<List<Base>>() {}, () -> List.of(new Base(), new Sub())),
                of(new ParameterizedTypeReference<List<Object>>() {}, () -> List.of(new Point(1, 2))),
                of(new ParameterizedTypeReference<Map<String, Object>>() {}, () -> Map.of("a", 1L)),
                of(new ParameterizedTypeReference<Object[]>() {}, () -> new Object[] {new Point(1, 2)}),
                of(new ParameterizedTypeReference<Token>() {}, () -> new Token().with("secret")),
                of(new ParameterizedTypeReference<Object>() {}, Object::new),
                of(new ParameterizedTypeReference<Runnable>() {}, () -> (Runnable) () -> {}));
    }

    @ParameterizedTest
    @MethodSource("changing")
    void keepsOutWhatWouldComeBackChanged(Type type, Supplier<Object> value) {
        CacheKey<Object> key = CacheSpec.of("any", type).key(1);
        for (int i = 0; i < 10; i++) {
            Object loaded = value.get();
            assertThat(cache.fetch(key, () -> loaded)).isSameAs(loaded);
        }
        assertThat(bench.store.count(Operation.STORE)).isZero();
        assertThat(bench.store.parts(key)).doesNotContain("value");
        assertThat(lines.list).singleElement().satisfies(line -> assertThat(line.getFormattedMessage())
                .contains("in 'any'", "The method is called each time instead", "declare exactly that class"));
    }

    @Test
    void namesTheConstructorThatAClassMayLack() {
        CacheKey<OneText> key = CacheSpec.of("any", OneText.class).key(1);
        cache.fetch(key, () -> new OneText("a"));
        assertThat(lines.list).singleElement().satisfies(line -> assertThat(line.getFormattedMessage())
                .contains("a constructor without parameters or one with @JsonCreator"));
    }

    @Test
    void warnsOnceOfValuesThatAreAllRefused() {
        CacheSpec<Token> spec = CacheSpec.of("any", Token.class);
        for (int i = 0; i < 500; i++) {
            cache.fetch(spec.key(i), () -> new Token().with("secret"));
            bench.clock.advance(Duration.ofMinutes(1));
        }
        assertThat(lines.list).hasSize(1);
    }

    /** Values of one class are accepted and refused by turns. */
    @Test
    void warnsOnceAMinuteOfAMixedCache() {
        CacheSpec<Token> spec = CacheSpec.of("any", Token.class);
        for (int minute = 1; minute <= 3; minute++) {
            for (int i = 0; i < 10; i++) {
                cache.fetch(spec.key(minute, i), Token::new);
                cache.fetch(spec.key(minute, i, "secret"), () -> new Token().with("secret"));
            }
            assertThat(lines.list).hasSize(minute);
            bench.clock.advance(Duration.ofMinutes(1));
        }
        assertThat(bench.store.count(Operation.STORE)).isEqualTo(30);
    }

    static Stream<Arguments> lasting() {
        return Stream.of(
                of(new ParameterizedTypeReference<Base>() {}, Base::new),
                of(new ParameterizedTypeReference<List<Named>>() {}, () -> List.of(new Named(), new NamedSub())),
                of(new ParameterizedTypeReference<Map<String, Object>>() {}, () -> Map.of("a", List.of(1, "b", 1.5))),
                of(new ParameterizedTypeReference<Token>() {}, Token::new),
                of(new ParameterizedTypeReference<List<Empty>>() {}, () -> List.of(new Empty())),
                of(new ParameterizedTypeReference<List<String>>() {}, () -> List.of("\ud83d")));
    }

    @ParameterizedTest
    @MethodSource("lasting")
    void storesWhatComesBackAsItIs(Type type, Supplier<Object> value) {
        CacheKey<Object> key = CacheSpec.of("any", type).key(1);
        Object loaded = value.get();
        cache.fetch(key, () -> loaded);
        assertThat(cache.fetch(key, () -> "never"))
                .usingRecursiveComparison()
                .withStrictTypeChecking()
                .ignoringCollectionOrder()
                .isNotSameAs(loaded);
        assertThat(lines.list).isEmpty();
    }

    @Test
    void refusesALaterValueOfAMethodWhoseFirstOnesWereFine() {
        CacheSpec<Object> spec =
                CacheSpec.of("any", new ParameterizedTypeReference<Map<String, Object>>() {}.getType());
        for (int i = 0; i < 100; i++) {
            int id = i;
            assertThat(cache.fetch(spec.key(id), () -> Map.of("id", id))).isEqualTo(Map.of("id", id));
        }
        assertThat(bench.store.count(Operation.STORE)).isEqualTo(100);
        assertThat(cache.fetch(spec.key(-1), () -> Map.of("id", 1L))).isEqualTo(Map.of("id", 1L));
        assertThat(bench.store.count(Operation.STORE)).isEqualTo(100);
        assertThat(cache.fetch(spec.key(-2), () -> Map.of("id", 2))).isEqualTo(Map.of("id", 2));
        assertThat(bench.store.count(Operation.STORE)).isEqualTo(101);
    }

    @Test
    void triesSeldomWhereAllAreRefusedAndAlwaysAgainOnceOneWasNot() {
        AtomicInteger encoded = new AtomicInteger();
        EasyCacheEngine counting = bench.node(new JacksonCounter(encoded));
        CacheSpec<Object> spec = CacheSpec.of("any", (Type) Base.class);
        for (int i = 0; i < 1_000; i++) {
            counting.fetch(spec.key(1), Sub::new);
        }
        assertThat(encoded).hasValueBetween(3, 30);
        encoded.set(0);
        counting.fetch(spec.key(2), Base::new);
        assertThat(encoded).hasValue(1);
        assertThat(lines.list).hasSize(1);
    }

    @Test
    void givesEachOfItsReadersAnObjectOfItsOwnAlsoOfWhatIsRefused() throws Exception {
        CacheKey<Object> key = CacheSpec.of("any", (Type) Base.class).key(1);
        GatedLoader<Object> loader = new GatedLoader<>(Sub::new);
        List<Caller<Object>> readers = Workbench.call(5, () -> cache.fetch(key, loader));
        loader.awaitEntered();
        readers.forEach(Caller::awaitWaiting);
        loader.letGo();
        Set<Object> values = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Caller<Object> reader : readers) {
            values.add(reader.result());
        }
        assertThat(values).hasSize(5).allMatch(Sub.class::isInstance);
        assertThat(loader.loads()).isEqualTo(5);
        assertThat(lines.list).hasSize(1);
    }

    @Test
    void sharesWhatIsRefusedWhereNobodyCanChangeIt() throws Exception {
        CacheKey<Object> key = CacheSpec.of("any", (Type) BigDecimal.class).key(1);
        EasyCacheEngine unable = bench.node(new ValueCodec() {
            @Override
            public byte[] encode(Object value, Type type) {
                throw new IllegalStateException("cannot");
            }

            @Override
            public Object decode(byte[] bytes, Type type) {
                throw new IllegalStateException("cannot");
            }
        });
        GatedLoader<Object> loader = new GatedLoader<>(() -> BigDecimal.TEN);
        List<Caller<Object>> readers = Workbench.call(5, () -> unable.fetch(key, loader));
        loader.awaitEntered();
        readers.forEach(Caller::awaitWaiting);
        loader.letGo();
        for (Caller<Object> reader : readers) {
            assertThat(reader.result()).isEqualTo(BigDecimal.TEN);
        }
        assertThat(loader.loads()).isEqualTo(1);
    }

    private record JacksonCounter(AtomicInteger encoded) implements ValueCodec {

        private static final ValueCodec WHOLE = new JacksonValueCodec();

        @Override
        public byte[] encode(Object value, Type type) {
            encoded.incrementAndGet();
            return WHOLE.encode(value, type);
        }

        @Override
        public Object decode(byte[] bytes, Type type) {
            return WHOLE.decode(bytes, type);
        }
    }
}
