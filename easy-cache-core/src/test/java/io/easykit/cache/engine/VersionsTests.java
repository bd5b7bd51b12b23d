package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.type.TypeFingerprint;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.ResolvableType;

/** Two versions of an application on one store, while a deployment rolls. */
class VersionsTests {

    private static final ValueCodec CODEC = new JacksonValueCodec();

    private static final String SHAPES =
            """
            import com.fasterxml.jackson.annotation.*;
            @JsonTypeInfo(use = JsonTypeInfo.Id.NAME%s)
            @JsonSubTypes(@JsonSubTypes.Type(value = Square.class, name = "square"))
            public interface Value {}
            record Square(int %s) implements Value {}
            """;

    /** Its annotations stand two interfaces above the type that a method returns. */
    private static final String DISTANT =
            """
            import com.fasterxml.jackson.annotation.*;
            public interface Value extends Middle {}
            interface Middle extends Top {}
            @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
            @JsonSubTypes(@JsonSubTypes.Type(value = Square.class, name = "square"))
            interface Top {}
            record Square(int %s) implements Value { Square { assert %s >= 0; } }
            """;

    private final Workbench bench = new Workbench();

    /** One side of a deployment: a type, and the JSON of a value of it; null for "nothing". */
    private record Version(Type type, @Nullable String json) {

        static Version of(String source, String json) {
            return new Version(Sources.compile(source), json);
        }

        CacheSpec<Object> spec(Consistency consistency) {
            return CacheSpec.of("value", type)
                    .withOptions(CacheOptions.builder()
                            .ttlJitter(0)
                            .consistency(consistency)
                            .build());
        }

        @Nullable Object value() {
            return json == null ? null : CODEC.decode(json.getBytes(StandardCharsets.UTF_8), type);
        }
    }

    private static Arguments change(String name, Version old, Version young) {
        return Arguments.of(name, old, young);
    }

    private static Type generic(Class<?> raw, Class<?> argument) {
        return ResolvableType.forClassWithGenerics(raw, argument).getType();
    }

    static Stream<Arguments> changes() {
        Version point = Version.of("public record Value(int x) {}", "{\"x\":1}");
        return Stream.of(
                change("a new field", point, Version.of("public record Value(int x, int y) {}", "{\"x\":1,\"y\":2}")),
                change(
                        "a removed field",
                        Version.of("public record Value(int x, int y) {}", "{\"x\":1,\"y\":2}"),
                        point),
                change("a renamed field", point, Version.of("public record Value(int z) {}", "{\"z\":1}")),
                change("a wider field", point, Version.of("public record Value(long x) {}", "{\"x\":1}")),
                change("a box", point, Version.of("public record Value(Integer x) {}", "{\"x\":null}")),
                change(
                        "a renamed constant",
                        Version.of("public enum Value { OLD, SAME }", "\"OLD\""),
                        Version.of("public enum Value { NEW, SAME }", "\"NEW\"")),
                change(
                        "a change deep inside",
                        Version.of(
                                "public record Value(java.util.List<Deep> deep) {} record Deep(int a) {}",
                                "{\"deep\":[{\"a\":1}]}"),
                        Version.of(
                                "public record Value(java.util.List<Deep> deep) {} record Deep(int b) {}",
                                "{\"deep\":[{\"b\":1}]}")),
                change(
                        "a field of the parent",
                        Version.of("public class Value extends Up { int a; } class Up { int b; }", "{\"b\":1}"),
                        Version.of("public class Value extends Up { int a; } class Up { int c; }", "{\"c\":1}")),
                change(
                        "another name of the type id",
                        Version.of(SHAPES.formatted("", "side"), "{\"@type\":\"square\",\"side\":1}"),
                        Version.of(
                                SHAPES.formatted(", property = \"kind\"", "side"), "{\"kind\":\"square\",\"side\":1}")),
                change(
                        "a field of a subtype",
                        Version.of(SHAPES.formatted("", "side"), "{\"@type\":\"square\",\"side\":1}"),
                        Version.of(SHAPES.formatted("", "width"), "{\"@type\":\"square\",\"width\":1}")),
                change(
                        "a field that is not written",
                        Version.of("public class Value { int a; }", "{\"a\":1}"),
                        Version.of("public class Value { int a; transient int b; }", "{\"a\":1}")),
                change(
                        "an annotation of a distant interface",
                        Version.of(DISTANT.formatted("side", "side"), "{\"@type\":\"square\",\"side\":1}"),
                        Version.of(DISTANT.formatted("width", "width"), "{\"@type\":\"square\",\"width\":1}")),
                change(
                        "another element",
                        new Version(generic(List.class, Integer.class), "[1]"),
                        new Version(generic(List.class, String.class), "[\"1\"]")),
                change(
                        "Optional to its content",
                        new Version(generic(Optional.class, String.class), "null"),
                        new Version(String.class, "\"a\"")),
                change(
                        "a cached nothing to a primitive",
                        new Version(Integer.class, null),
                        new Version(int.class, "1")),
                change(
                        "a list to an array",
                        new Version(generic(List.class, Integer.class), "[1]"),
                        new Version(int[].class, "[1]")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("changes")
    void readTheirOwnValuesOnlyAndDoNotDisplaceEachOther(String name, Version old, Version young) {
        for (Consistency consistency : Consistency.values()) {
            CacheKey<Object> oldKey = old.spec(consistency).key(consistency);
            CacheKey<Object> youngKey = young.spec(consistency).key(consistency);
            EasyCacheEngine oldNode = bench.node();
            EasyCacheEngine youngNode = bench.node();
            AtomicInteger loads = new AtomicInteger();
            for (int round = 1; round <= 2; round++) {
                for (int read = 0; read < 10; read++) {
                    assertThat(oldNode.fetch(oldKey, () -> counted(loads, old)))
                            .usingRecursiveComparison()
                            .isEqualTo(old.value());
                    assertThat(youngNode.fetch(youngKey, () -> counted(loads, young)))
                            .usingRecursiveComparison()
                            .isEqualTo(young.value());
                }
                // "Nothing" lives shorter, and so may cost the other one a load.
                assertThat(loads).as(name).hasValueBetween(2 * round, 3 * round);
                youngNode.invalidate(youngKey);
                bench.clock.advance(CacheOptions.defaults().staleWindow());
            }
        }
        assertThat(bench.events.next()).doesNotContain("unreadable");
    }

    private static @Nullable Object counted(AtomicInteger loads, Version version) {
        loads.incrementAndGet();
        return version.value();
    }

    /** The fingerprint of the cache does not cover the class. */
    @ParameterizedTest
    @CsvSource({
        "CLASS, Square, class Square implements Shape { int side = 1; Integer width = 2; }",
        "MINIMAL_CLASS, Square, class Square implements Shape { int side = 1; Integer width = 2; }",
        "CLASS, Rectangle, class Rectangle implements Shape { int side = 1; }",
        "MINIMAL_CLASS, Rectangle, class Rectangle implements Shape { int side = 1; }"
    })
    void doNotReadAnObjectWhoseClassOnlyItsTypeIdNames(String id, String name, String changed) throws Exception {
        String source =
                """
                import com.fasterxml.jackson.annotation.*;
                public class Value { @JsonTypeInfo(use = JsonTypeInfo.Id.%s) Shape shape = new %s(); int other = 7; }
                interface Shape {}
                %s
                """;
        Class<?> old =
                Sources.compile(source.formatted(id, "Square", "class Square implements Shape { int side = 1; }"));
        Class<?> young = Sources.compile(source.formatted(id, name, changed));
        List<AtomicInteger> loads = List.of(new AtomicInteger(), new AtomicInteger());
        List<EasyCacheEngine> nodes = List.of(bench.node(), bench.node());
        for (int round = 0; round < 3; round++) {
            for (Type type : List.of(old, young)) {
                int index = type == old ? 0 : 1;
                Thread.currentThread().setContextClassLoader(((Class<?>) type).getClassLoader());
                Object made = ((Class<?>) type).getDeclaredConstructor().newInstance();
                CacheKey<Object> key = CacheSpec.of("value", type).key(1);
                Object read = nodes.get(index).fetch(key, () -> {
                    loads.get(index).incrementAndGet();
                    return made;
                });
                assertThat(read).usingRecursiveComparison().isEqualTo(made);
                assertThat(nodes.get(index).fetch(key, () -> "It was not stored"))
                        .isInstanceOf((Class<?>) type);
            }
        }
        assertThat(CacheSpec.of("value", (Type) old).fingerprint())
                .isEqualTo(CacheSpec.of("value", (Type) young).fingerprint());
        assertThat(loads).extracting(AtomicInteger::get).containsExactly(3, 3);
    }

    @AfterEach
    void restoreTheLoader() {
        Thread.currentThread().setContextClassLoader(getClass().getClassLoader());
    }

    @Test
    void shareTheirValuesWhereTheTypeIsTheSame() {
        String source = "public record Value(int x, java.util.Map<String, Value> more) {}";
        assertThat(TypeFingerprint.of(Sources.compile(source)))
                .isEqualTo(TypeFingerprint.of(Sources.compile(source)))
                .matches("[A-Za-z0-9_-]{6}");
        String reordered = "public class Value { static int s; int a; String b; int m() { return 0; } }";
        assertThat(TypeFingerprint.of(Sources.compile(reordered)))
                .isEqualTo(TypeFingerprint.of(Sources.compile("public class Value { String b; int a; }")));
    }

    @Test
    void endWhereTheTypeRefersToItself() {
        Class<?> circle = Sources.compile(
                "public class Value<T extends Value<T>> { Value<T> next; T[] all; java.util.List<? super T> up; }");
        assertThat(TypeFingerprint.of(circle)).hasSize(6);
    }
}
