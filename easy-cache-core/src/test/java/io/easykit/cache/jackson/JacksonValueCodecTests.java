package io.easykit.cache.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIgnoreType;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.JsonView;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.type.TypeFingerprint;
import io.easykit.test.ValuesOfZones;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.data.domain.PageImpl;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.SliceImpl;
import org.springframework.data.domain.Sort;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.annotation.JsonTypeIdResolver;
import tools.jackson.databind.jsontype.impl.TypeIdResolverBase;
import tools.jackson.databind.module.SimpleModule;

@SuppressWarnings({"UnusedVariable", "JavaUtilDate"}) // fields are for the codec
class JacksonValueCodecTests {

    private static final User ADA = new User(Long.MAX_VALUE, "Ada", DayOfWeek.MONDAY, Optional.of("ada@example.org"));

    private final ValueCodec codec = new JacksonValueCodec();

    record User(long id, String name, DayOfWeek day, Optional<String> mail) {}

    record Order(UUID id, List<User> buyers, Map<String, BigDecimal> prices, Instant at) {}

    record Page<T>(List<T> items, int total) {}

    static final class Node {

        public Node next;
    }

    private static Arguments of(Object value, ParameterizedTypeReference<?> type) {
        return Arguments.of(value, type.getType());
    }

    static Stream<Arguments> values() {
        return Stream.of(
                of(ADA, new ParameterizedTypeReference<User>() {}),
                of(List.of(ADA, ADA), new ParameterizedTypeReference<List<User>>() {}),
                of(Set.of(1L, Long.MIN_VALUE), new ParameterizedTypeReference<Set<Long>>() {}),
                of(List.of(1L, 2L), new ParameterizedTypeReference<List<Long>>() {}),
                of(Map.of(7L, ADA), new ParameterizedTypeReference<Map<Long, User>>() {}),
                of(
                        Map.of(DayOfWeek.FRIDAY, List.of("a")),
                        new ParameterizedTypeReference<Map<DayOfWeek, List<String>>>() {}),
                of(Optional.of(ADA), new ParameterizedTypeReference<Optional<User>>() {}),
                of(new Page<>(List.of(ADA), 1), new ParameterizedTypeReference<Page<User>>() {}),
                of(
                        new Order(
                                UUID.randomUUID(),
                                List.of(ADA),
                                Map.of("EUR", new BigDecimal("12.30")),
                                Instant.parse("2026-11-20T10:15:30.123456789Z")),
                        new ParameterizedTypeReference<Order>() {}),
                of(
                        new BigDecimal("0.10000000000000000000000000000001"),
                        new ParameterizedTypeReference<BigDecimal>() {}),
                of(new BigDecimal("1.00"), new ParameterizedTypeReference<BigDecimal>() {}),
                of(new BigInteger("123456789012345678901234567890"), new ParameterizedTypeReference<BigInteger>() {}),
                of(9007199254740993L, new ParameterizedTypeReference<Long>() {}),
                of(0.1f, new ParameterizedTypeReference<Float>() {}),
                of(Double.MIN_VALUE, new ParameterizedTypeReference<Double>() {}),
                of("\u0000 \ud83d\ude00 \"\\", new ParameterizedTypeReference<String>() {}),
                of('x', new ParameterizedTypeReference<Character>() {}),
                of(LocalDate.of(2026, 11, 20), new ParameterizedTypeReference<LocalDate>() {}),
                of(LocalDateTime.of(2026, 11, 20, 1, 2, 3, 4), new ParameterizedTypeReference<LocalDateTime>() {}),
                of(Instant.parse("2026-11-20T10:15:30.123456789Z"), new ParameterizedTypeReference<Instant>() {}),
                of(Duration.ofMillis(1500), new ParameterizedTypeReference<Duration>() {}),
                of(
                        ZonedDateTime.of(2026, 11, 20, 1, 2, 3, 0, ZoneId.of("Europe/Berlin")),
                        new ParameterizedTypeReference<ZonedDateTime>() {}),
                of(
                        OffsetDateTime.of(2026, 11, 20, 1, 2, 3, 0, ZoneOffset.ofHours(2)),
                        new ParameterizedTypeReference<OffsetDateTime>() {}));
    }

    @ParameterizedTest
    @MethodSource("values")
    void restoresByGenericType(Object value, Type type) {
        assertThat(codec.decode(codec.encode(value, type), type)).isEqualTo(value);
    }

    @Test
    void restoresBytesAndArrays() {
        byte[] bytes = {0, 1, -1, 127, -128};
        assertThat((byte[]) codec.decode(codec.encode(bytes, byte[].class), byte[].class))
                .isEqualTo(bytes);
        long[] longs = {Long.MIN_VALUE, 0, Long.MAX_VALUE};
        assertThat((long[]) codec.decode(codec.encode(longs, long[].class), long[].class))
                .isEqualTo(longs);
    }

    @Test
    void namesNoClass() {
        String json = new String(codec.encode(ADA, User.class), StandardCharsets.UTF_8);
        assertThat(json).contains("\"name\":\"Ada\"").doesNotContain("easykit").doesNotContain("class");
    }

    @Test
    void toleratesAPropertyThatANewerVersionWrote() {
        byte[] newer = "{\"id\":1,\"name\":\"Ada\",\"day\":\"MONDAY\",\"mail\":null,\"nick\":\"A\"}"
                .getBytes(StandardCharsets.UTF_8);
        assertThat(codec.decode(newer, User.class)).isEqualTo(new User(1, "Ada", DayOfWeek.MONDAY, Optional.empty()));
    }

    @Test
    void refusesBytesOfSomethingElse() {
        for (String odd : List.of("", "garbage", "{\"id\":", "[1]", "{\"id\":1} {")) {
            assertThatThrownBy(() -> codec.decode(odd.getBytes(StandardCharsets.UTF_8), User.class))
                    .as(odd)
                    .isInstanceOf(RuntimeException.class);
        }
    }

    @Test
    void writesFieldsWhateverAWebClientIsToSee() {
        Secret secret = new Secret();
        secret.password = "one";
        secret.ignored = "two";
        secret.readOnly = "three";
        secret.price = new BigDecimal("1.50");
        secret.due = LocalDate.of(2026, 11, 20);
        secret.empty = "";
        secret.masked = "four";
        secret.address = new Address("Berlin");
        secret.state = Web.CLOSED;
        assertThat(codec.decode(codec.encode(secret, Secret.class), Secret.class))
                .usingRecursiveComparison()
                .isEqualTo(secret);
    }

    @JsonIgnoreProperties({"ignored"})
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    @JsonPropertyOrder({"price"})
    static class Secret {

        @JsonProperty(access = JsonProperty.Access.WRITE_ONLY)
        private String password;

        @JsonIgnore
        private String ignored;

        @JsonProperty(value = "read-only", access = JsonProperty.Access.READ_ONLY)
        private String readOnly;

        @JsonFormat(shape = JsonFormat.Shape.STRING, pattern = "#")
        private BigDecimal price;

        @JsonFormat(pattern = "MM")
        private LocalDate due;

        @JsonView(Address.class)
        private String empty;

        @JsonSerialize(using = Masking.class)
        private String masked;

        @JsonUnwrapped
        private Address address;

        private Web state;

        @JsonProperty("password")
        public String getPassword() {
            return "***";
        }

        public void setPassword(String value) {
            throw new AssertionError("called");
        }
    }

    enum Web {
        OPEN,
        @JsonProperty("closed")
        CLOSED;

        @Override
        public String toString() {
            return "open or closed";
        }
    }

    @JsonIgnoreType
    static final class Address {

        private final String city;

        public Address(String city) {
            this.city = city;
        }
    }

    static final class Masking extends ValueSerializer<String> {

        @Override
        public void serialize(String value, JsonGenerator generator, SerializationContext context) {
            generator.writeString("***");
        }
    }

    @Test
    void restoresSubtypesThatNameThemselves() {
        List<Shape> shapes = List.of(new Circle(1.5), new Square(2));
        Type type = new ParameterizedTypeReference<List<Shape>>() {}.getType();
        assertThat(codec.decode(codec.encode(shapes, type), type)).isEqualTo(shapes);
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({@JsonSubTypes.Type(Circle.class), @JsonSubTypes.Type(Square.class)})
    sealed interface Shape {}

    record Circle(double radius) implements Shape {}

    record Square(int side) implements Shape, Part {}

    @Test
    void restoresWhatTypeIdsNameWithTheFingerprintsOfItsClasses() {
        Holder holder = new Holder(
                new Square(2),
                Mode.FAST,
                List.of(new Square(3), Mode.SLOW),
                List.of(new Square(4), BigDecimal.ONE),
                new Circle(1));
        String json = new String(codec.encode(holder, Holder.class), StandardCharsets.UTF_8);
        assertThat(json)
                .contains("$Square#" + TypeFingerprint.of(Square.class))
                .contains("$Mode#" + TypeFingerprint.of(Mode.class))
                .contains("\"4#square#" + TypeFingerprint.of(Square.class))
                .contains("\"1#big#\"")
                .contains("\"Circle\"");
        assertThat(codec.decode(json.getBytes(StandardCharsets.UTF_8), Holder.class))
                .isEqualTo(holder);
        assertThatThrownBy(() -> codec.decode(
                        json.replace(TypeFingerprint.of(Square.class), "other1").getBytes(StandardCharsets.UTF_8),
                        Holder.class))
                .hasMessageContaining("has changed");
    }

    interface Part {}

    enum Mode implements Part {
        SLOW,
        FAST {
            @Override
            int speed() {
                return 2;
            }
        };

        int speed() {
            return 1;
        }
    }

    record Holder(
            @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Part shape,
            @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS, include = JsonTypeInfo.As.WRAPPER_ARRAY) Part mode,
            @JsonTypeInfo(use = JsonTypeInfo.Id.MINIMAL_CLASS, include = JsonTypeInfo.As.WRAPPER_OBJECT)
                    List<Part> list,
            @JsonTypeInfo(use = JsonTypeInfo.Id.CUSTOM, property = "kind") @JsonTypeIdResolver(OwnIds.class)
                    List<Object> own,
            @JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME) Shape listed) {}

    static final class OwnIds extends TypeIdResolverBase {

        @Override
        public String idFromValue(DatabindContext context, Object value) {
            return value instanceof Square square ? square.side() + "#square" : value + "#big";
        }

        @Override
        public String idFromValueAndType(DatabindContext context, Object value, Class<?> suggested) {
            return idFromValue(context, value);
        }

        @Override
        public JavaType typeFromId(DatabindContext context, String id) {
            return context.constructType(id.endsWith("#square") ? Square.class : BigDecimal.class);
        }

        @Override
        public JsonTypeInfo.Id getMechanism() {
            return JsonTypeInfo.Id.CUSTOM;
        }
    }

    @Test
    void restoresPagesOfSpringDataBesideModulesOfTheApplication() {
        SimpleModule module = new SimpleModule().addAbstractTypeMapping(Part.class, Square.class);
        ValueCodec own = new JacksonValueCodec(
                JacksonValueCodec.mapper().addModule(module).build());
        Sort sort = Sort.by(Sort.Order.desc("side").ignoreCase());
        Listing listing = new Listing(
                new PageImpl<>(List.of(new Square(5)), PageRequest.of(1, 1, sort), 3),
                new SliceImpl<>(List.of(new Square(6)), Pageable.unpaged(), true),
                sort);

        assertThat(own.problemWith(Listing.class)).isNull();
        assertThat(own.decode(own.encode(listing, Listing.class), Listing.class))
                .isEqualTo(listing);
    }

    record Listing(org.springframework.data.domain.Page<Part> page, Slice<Part> slice, Sort sort) {}

    @Test
    void restoresTheDatesOfSqlToTheLastDigit() {
        Timestamp timestamp = Timestamp.valueOf("2026-11-20 10:15:30.123456789");
        for (java.util.Date date : List.of(
                timestamp, new java.sql.Date(1_700_000_000_123L), new java.sql.Time(123L), new java.util.Date(5))) {
            assertThat(codec.decode(codec.encode(date, date.getClass()), date.getClass()))
                    .hasSameClassAs(date)
                    .isEqualTo(date);
        }
    }

    @Test
    void restoresDatesAndTimesOnNodesOfOtherZones() {
        for (Supplier<Object> value : ValuesOfZones.ALL) {
            Type type =
                    value.get() instanceof ZoneId ? ZoneId.class : value.get().getClass();
            for (String writer : ValuesOfZones.ZONES) {
                byte[] bytes = ValuesOfZones.in(writer, () -> codec.encode(value.get(), type));
                for (String reader : ValuesOfZones.ZONES) {
                    assertThat(ValuesOfZones.in(reader, () -> codec.decode(bytes, type)))
                            .as("%s from %s to %s", type, writer, reader)
                            .isEqualTo(ValuesOfZones.in(reader, value));
                }
            }
        }
    }

    @Test
    void keepsTheOrderOfASet() {
        Type type = new ParameterizedTypeReference<Set<String>>() {}.getType();
        Set<String> set = new LinkedHashSet<>(List.of("z", "a", "m", "b"));
        assertThat(List.copyOf((Set<?>) codec.decode(codec.encode(set, type), type)))
                .isEqualTo(List.of("z", "a", "m", "b"));
    }

    static Stream<Arguments> unreadable() {
        return Stream.of(
                of("", new ParameterizedTypeReference<Plain>() {}),
                of("", new ParameterizedTypeReference<List<Plain>>() {}),
                of("", new ParameterizedTypeReference<Optional<Plain[]>>() {}),
                of("", new ParameterizedTypeReference<Map<String, List<Plain>>>() {}),
                of("", new ParameterizedTypeReference<Hidden>() {}),
                of("", new ParameterizedTypeReference<Map<Circle, String>>() {}));
    }

    sealed interface Plain {}

    record Only(int side) implements Plain {}

    static final class Hidden {

        private final int length;

        private Hidden(String text) {
            this.length = text.length();
        }

        static Hidden of(String text) {
            return new Hidden(text);
        }
    }

    @ParameterizedTest
    @MethodSource("unreadable")
    void findsByTheTypeWhatCannotBeRead(Object any, Type type) {
        assertThat(codec.problemWith(type)).contains("can be written but not read again");
    }

    @ParameterizedTest
    @MethodSource("values")
    void findsNothingAgainstTypesThatCanBeRead(Object any, Type type) {
        assertThat(codec.problemWith(type)).isNull();
    }

    @Test
    void findsNothingAgainstTypesThatNeedContent() {
        for (Type type : List.of(Object.class, Shape.class, Secret.class, Circle.class, long.class, int[].class)) {
            assertThat(codec.problemWith(type)).as("%s", type).isNull();
        }
    }

    @Test
    void refusesACircleWithoutAnError() {
        Node circle = new Node();
        circle.next = circle;
        assertThatThrownBy(() -> codec.encode(circle, Node.class)).isInstanceOf(RuntimeException.class);
    }
}
