package io.easykit.cache.engine;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
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
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.FieldVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.SpringAsmInfo;
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

    /** What a constant is in JSON, and how it is read. */
    private static final String CODES =
            """
            import com.fasterxml.jackson.annotation.*;
            public enum Value implements Coded {
                A("%s"), B("%s");
                %s final String code;
                Value(String code) { this.code = code; }
                @Override %s public String code() { return code; }
                %s static Value of(String code) { return A.code.equals(code) ? A : B; }
            }
            interface Coded { %s String code(); }
            """;

    private static final String BY_PARAMETERS =
            """
            import com.fasterxml.jackson.annotation.*;
            public class Value {
                final int width; final int height;
                Value(@JsonProperty("%1$s") int %2$s, @JsonProperty("%3$s") int %4$s) {
                    this.width = width; this.height = height;
                }
            }
            """;

    private static final String BY_FACTORY =
            """
            import com.fasterxml.jackson.annotation.*;
            public class Value {
                int width; int height;
                @JsonCreator static Value of(@JsonProperty("%1$s") int %2$s, @JsonProperty("%3$s") int %4$s) {
                    Value value = new Value();
                    value.width = width; value.height = height;
                    return value;
                }
            }
            """;

    private static final String BY_DELEGATE =
            """
            import com.fasterxml.jackson.annotation.*;
            public class Value {
                private final int content;
                @JsonCreator(mode = JsonCreator.Mode.DELEGATING) Value(Json json) { content = json.%s(); }
                @JsonValue Json json() { return new Json(content); }
            }
            record Json(int %s) { Json { assert %s >= 0; } }
            """;

    private static final String BUNDLED =
            """
            import com.fasterxml.jackson.annotation.*;
            import java.lang.annotation.*;
            public class Value { @First int %2$s; @Second int %4$s; }
            @JacksonAnnotationsInside @JsonProperty("%1$s") @Retention(RetentionPolicy.RUNTIME) @interface First {}
            @JacksonAnnotationsInside @JsonProperty("%3$s") @Retention(RetentionPolicy.RUNTIME) @interface Second {}
            """;

    /** The bundles contain each other, too. */
    private static final String NESTED =
            """
            import com.fasterxml.jackson.annotation.*;
            import java.lang.annotation.*;
            public class Value { @First int %2$s; @Second int %4$s; }
            @JacksonAnnotationsInside @Inner @Retention(RetentionPolicy.RUNTIME) @interface First {}
            @JacksonAnnotationsInside @First @JsonProperty("%1$s") @Retention(RetentionPolicy.RUNTIME) @interface Inner {}
            @JacksonAnnotationsInside @JsonProperty("%3$s") @Retention(RetentionPolicy.RUNTIME) @interface Second {}
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
                        new Version(int[].class, "[1]")),
                change(
                        "names of parameters that are swapped",
                        size(BY_PARAMETERS, "w", "h"),
                        size(BY_PARAMETERS, "h", "w")),
                change(
                        "annotated parameters that are swapped",
                        Version.of(BY_PARAMETERS.formatted("w", "width", "h", "height"), "{\"w\":1,\"h\":2}"),
                        Version.of(BY_PARAMETERS.formatted("w", "height", "h", "width"), "{\"w\":1,\"h\":2}")),
                change("names in a factory that are swapped", size(BY_FACTORY, "w", "h"), size(BY_FACTORY, "h", "w")),
                change(
                        "the class that an annotated parameter takes",
                        Version.of(BY_DELEGATE.formatted("a", "a", "a"), "{\"a\":1}"),
                        Version.of(BY_DELEGATE.formatted("b", "b", "b"), "{\"b\":1}")),
                change("the content of bundles", size(BUNDLED, "w", "h"), size(BUNDLED, "h", "w")),
                change("the content of a bundle in a bundle", size(NESTED, "w", "h"), size(NESTED, "h", "w")),
                change(
                        "codes of constants that are swapped",
                        codes("x", "y", "@JsonValue", "", "", ""),
                        codes("y", "x", "@JsonValue", "", "", "")),
                change(
                        "codes of constants that a method returns",
                        codes("x", "y", "", "@JsonValue", "@JsonCreator", ""),
                        codes("y", "x", "", "@JsonValue", "@JsonCreator", "")),
                change(
                        "codes of constants that a method of an interface returns",
                        codes("x", "y", "", "", "@JsonCreator", "@JsonValue"),
                        codes("y", "x", "", "", "@JsonCreator", "@JsonValue")));
    }

    /** A width of 1 and a height of 2. */
    private static Version size(String source, String width, String height) {
        return Version.of(
                source.formatted(width, "width", height, "height"), "{\"" + width + "\":1,\"" + height + "\":2}");
    }

    /** The first constant. */
    private static Version codes(String first, String second, String... annotations) {
        Object[] parts =
                Stream.concat(Stream.of(first, second), Stream.of(annotations)).toArray();
        return Version.of(CODES.formatted(parts), "\"" + first + "\"");
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

    /** A raw type. Jackson reads such a field as its bound. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "public class Value<T extends Value.Item> { public T item; public static class Item { %s } }",
                "public class Value<T extends Comparable<T> & Value.Item> { public T a; public interface Item { %s } }",
                "public class Value<T extends Value.Item<T>> { public T a; public static class Item<S> { public S s; %s } }"
            })
    void seeTheBoundOfATypeVariable(String source) {
        String old = TypeFingerprint.of(Sources.compile(source.formatted("")));
        String young = TypeFingerprint.of(Sources.compile(source.formatted("int b = 1;")));

        assertThat(old.equals(young)).isEqualTo(source.contains("interface"));
    }

    /** Not all of these count for the codec of the cache, but for one of the application. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "public enum Value { A }|public enum Value { @JsonProperty(\"x\") A }",
                "public enum Value { @JsonAlias(\"a\") A }|public enum Value { @JsonAlias(\"b\") A }",
                "public enum Value { A }|public enum Value { A; @JsonCreator static Value of(String a) { return A; } }",
                "public enum Value { A; int x; }|public enum Value { A; @JsonProperty int x; }",
                "public enum Value { A }|@JsonFormat(shape = JsonFormat.Shape.NUMBER) public enum Value { A }",
                "public class Value { void set(int a) {} }|public class Value { void set(@JsonProperty(\"a\") int a) {} }",
                "public class Value { int a; }|public class Value { int a; @JsonSetter(\"b\") void set(int c) {} }",
                "public record Value(int a) {}|public record Value(@JsonAlias(\"b\") int a) {}"
            })
    void seeTheAnnotationsOfAllMembers(String old, String young) {
        String imported = "import com.fasterxml.jackson.annotation.*; ";
        assertThat(TypeFingerprint.of(Sources.compile(imported + old)))
                .isNotEqualTo(TypeFingerprint.of(Sources.compile(imported + young)))
                .isEqualTo(TypeFingerprint.of(Sources.compile(imported + old)));
    }

    /** Reflection refuses to list such parameters. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "public class Value { int a; int sum(int odd_name) { return a; } }|false",
                "public class Value { Value(@JsonProperty(\"%s\") int odd_name) {} }|true",
                "public class Value { @JsonCreator static Value of(@JsonAlias(\"%s\") int odd_name) { return null; } }|true"
            })
    void getAFingerprintAlthoughAnObfuscatorHasLeftNoNames(String source, boolean differ) {
        String imported = "import com.fasterxml.jackson.annotation.*; ";
        String old = obfuscated(imported + source.formatted("x"));
        assertThat(old).isEqualTo(obfuscated(imported + source.formatted("x")));
        assertThat(old.equals(obfuscated(imported + source.formatted("y")))).isNotEqualTo(differ);
    }

    private static String obfuscated(String source) {
        return TypeFingerprint.of(Sources.compile(source, text -> text.replace("odd_name", "odd.name")));
    }

    /** Usual rules of an obfuscator keep {@code values()} and {@code valueOf}, but not the fields of the constants. */
    @Test
    void seeTheAnnotationsOfConstantsThatAnObfuscatorHasRenamed() {
        String source = "public enum Value { @com.fasterxml.jackson.annotation.JsonProperty(\"%s\") A, B }";
        String old = TypeFingerprint.of(Sources.compile(source.formatted("x"), VersionsTests::withRenamedFields));
        assertThat(TypeFingerprint.of(Sources.compile(source.formatted("x"), VersionsTests::withRenamedFields)))
                .isEqualTo(old);
        assertThat(TypeFingerprint.of(Sources.compile(source.formatted("y"), VersionsTests::withRenamedFields)))
                .isNotEqualTo(old);
    }

    private static String withRenamedFields(String bytes) {
        ClassWriter renamed = new ClassWriter(0);
        new ClassReader(bytes.getBytes(ISO_8859_1)).accept(new RenamedFields(renamed), 0);
        return new String(renamed.toByteArray(), ISO_8859_1);
    }

    private static final class RenamedFields extends ClassVisitor {

        RenamedFields(ClassVisitor next) {
            super(SpringAsmInfo.ASM_VERSION, next);
        }

        @Override
        public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
            return super.visitField(access, "of" + name, descriptor, signature, value);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            return new MethodVisitor(SpringAsmInfo.ASM_VERSION, next) {
                @Override
                public void visitFieldInsn(int opcode, String owner, String field, String type) {
                    super.visitFieldInsn(opcode, owner, owner.equals("app/Value") ? "of" + field : field, type);
                }
            };
        }
    }

    /** The text of such an object is another one in each JVM. */
    @ParameterizedTest
    @ValueSource(strings = {"new int[] {1}", "new Object()", "java.util.List.of(new Object())"})
    void shareTheirValuesIfTheCodeOfAConstantHasNoText(String code) {
        String source =
                "public enum Value { A; @com.fasterxml.jackson.annotation.JsonValue Object code() { return %s; } }";
        assertThat(TypeFingerprint.of(Sources.compile(source.formatted(code))))
                .isEqualTo(TypeFingerprint.of(Sources.compile(source.formatted(code))));
    }

    @Test
    void shareTheirValuesIfTheCodeOfAConstantCannotBeRead() {
        String source =
                """
                public enum Value {
                    A;
                    @com.fasterxml.jackson.annotation.JsonValue String code() { throw new IllegalStateException(); }
                }
                """;
        assertThat(TypeFingerprint.of(Sources.compile(source))).isEqualTo(TypeFingerprint.of(Sources.compile(source)));
    }

    @Test
    void endWhereTheTypeRefersToItself() {
        Class<?> circle = Sources.compile(
                "public class Value<T extends Value<T>> { Value<T> next; T[] all; java.util.List<? super T> up; }");
        assertThat(TypeFingerprint.of(circle)).hasSize(6);
    }
}
