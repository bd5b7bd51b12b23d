package io.easykit.cache.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.test.ValuesOfZones;
import java.io.Serializable;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Currency;
import java.util.Date;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Sort;

/** Equal parts have the same text, unequal ones never. */
@SuppressWarnings({"JavaUtilDate", "JdkObsolete", "ArrayRecordComponent", "EqualsGetClass", "UnnecessaryStringBuilder"
}) // they are tested
class KeyTextTests {

    private static final UUID ID = UUID.fromString("0b7e3c52-6f2e-4f7b-9a51-0e8a0f2f4c11");
    private static final Instant NOW = Instant.parse("2026-11-20T10:15:30.123Z");

    private final CacheSpec<String> spec = CacheSpec.of("any", String.class);

    interface Shape {}

    enum Color implements Shape {
        RED
    }

    enum Wine implements Shape {
        RED,
        WHITE {
            @Override
            public String toString() {
                return "RED";
            }
        }
    }

    record UserId(@Nullable Object value) implements Shape {
        @Override
        public String toString() {
            return "1";
        }
    }

    record OrderId(@Nullable Object value) implements Shape {
        @Override
        public String toString() {
            return "1";
        }
    }

    record Pair(@Nullable Object first, @Nullable Object second) {}

    record Masking(String secret) {
        @Override
        public String secret() {
            return "***";
        }
    }

    /** A value object whose text leaves out a part of its value. */
    static class Money implements Shape {

        private final BigDecimal amount;

        Money(String amount) {
            this.amount = new BigDecimal(amount);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other != null && other.getClass() == getClass() && amount.equals(((Money) other).amount);
        }

        @Override
        public int hashCode() {
            return amount.hashCode();
        }

        @Override
        public String toString() {
            return Long.toString(amount.longValue());
        }
    }

    static final class Weight extends Money {

        private final String unit;

        Weight(String amount, String unit) {
            super(amount);
            this.unit = unit;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return super.equals(other) && unit.equals(((Weight) other).unit);
        }

        @Override
        public int hashCode() {
            return Objects.hash(super.hashCode(), unit);
        }
    }

    /** No two of them are equal; each supplier makes equal ones. */
    private static final List<Supplier<Object>> ZOO = List.of(
            () -> 1L,
            () -> -1,
            () -> "1",
            () -> "-1",
            () -> "\\1",
            () -> "",
            () -> "-",
            () -> "a",
            () -> "b:c",
            () -> "a, b",
            () -> "[a,b,]",
            () -> 'a',
            () -> '1',
            () -> true,
            () -> false,
            () -> "true",
            () -> "\\true",
            () -> 1.0,
            () -> 1.0f,
            () -> "1.0",
            () -> 0.0,
            () -> -0.0,
            () -> Double.NaN,
            () -> "NaN",
            () -> new BigDecimal("1.0"),
            () -> new BigDecimal("1.00"),
            () -> new BigDecimal("1"),
            () -> new BigInteger("123456789012345678901234567890"),
            () -> "123456789012345678901234567890",
            () -> UUID.fromString(ID.toString()),
            ID::toString,
            () -> ID.toString().toUpperCase(Locale.ROOT),
            () -> Color.RED,
            () -> Wine.RED,
            () -> Wine.WHITE,
            () -> "RED",
            () -> DayOfWeek.MONDAY,
            () -> TimeUnit.DAYS,
            () -> new UserId("1"),
            () -> new UserId(1),
            () -> new UserId(null),
            () -> new UserId("\\N"),
            () -> new UserId(new UserId("1")),
            () -> new OrderId("1"),
            () -> new OrderId(List.of("1")),
            () -> new Money("1"),
            () -> new Money("1.2"),
            () -> new Weight("1", "kg"),
            () -> new Weight("1", "lb"),
            () -> new Masking("one"),
            () -> new Masking("two"),
            () -> new Pair("a", "b"),
            () -> new Pair("a,b", null),
            () -> new Pair(null, "a,b"),
            () -> new ArrayList<>(List.of("a", "b")),
            () -> List.of("b", "a"),
            () -> new LinkedList<>(List.of("a, b")),
            () -> List.of(),
            () -> List.of(""),
            () -> List.of(List.of()),
            () -> List.of(1, 2),
            () -> List.of("1", "2"),
            () -> List.of(List.of("a"), "b"),
            () -> Optional.of("a"),
            () -> Optional.empty(),
            () -> Optional.of(Optional.empty()),
            () -> Optional.of(List.of("a", "b")),
            () -> Optional.of(List.of("a, b")),
            () -> Optional.of(""),
            () -> OptionalInt.of(1),
            () -> OptionalInt.empty(),
            () -> LocalDate.of(2026, 11, 20),
            () -> "2026-11-20",
            () -> LocalDateTime.of(2026, 11, 20, 10, 15),
            () -> LocalTime.of(10, 15),
            () -> LocalTime.of(10, 15, 0, 1),
            () -> NOW,
            () -> NOW.plusNanos(1),
            () -> NOW.atOffset(ZoneOffset.UTC),
            () -> NOW.atOffset(ZoneOffset.ofHours(1)),
            () -> NOW.atZone(ZoneOffset.UTC),
            () -> NOW.atZone(ZoneId.of("UTC")),
            () -> NOW.atZone(ZoneId.of("Europe/Berlin")),
            () -> Date.from(NOW),
            () -> new Date(NOW.toEpochMilli() + 1),
            () -> new java.sql.Date(NOW.toEpochMilli() + 998),
            () -> new java.sql.Time(NOW.toEpochMilli() + 999),
            () -> Timestamp.from(NOW.plusNanos(1)),
            () -> Timestamp.from(NOW.plusNanos(2)),
            () -> Duration.ofMillis(1),
            () -> Duration.ofNanos(1),
            () -> ZoneId.of("UTC"),
            () -> ZoneOffset.UTC,
            () -> Currency.getInstance("EUR"),
            () -> new Locale("en", "US"),
            () -> new Locale("en_us"),
            () -> new Locale("en", "", "US"),
            () -> Locale.forLanguageTag("th-TH-u-nu-thai"),
            () -> PageRequest.of(0, 10),
            () -> PageRequest.of(1, 10),
            () -> PageRequest.of(0, 10, Sort.by("a")),
            () -> Sort.by("a"),
            () -> Sort.by("a").descending(),
            () -> String.class,
            () -> Integer.class);

    @Test
    void isTheSameForEqualPartsAndDiffersForUnequalOnes() {
        for (int i = 0; i < ZOO.size(); i++) {
            for (int j = 0; j < ZOO.size(); j++) {
                Object one = ZOO.get(i).get();
                Object other = ZOO.get(j).get();
                // A date equals a timestamp of the same millisecond, but not the other way round.
                assertThat(one.equals(other) && other.equals(one))
                        .as("%s and %s", one, other)
                        .isEqualTo(i == j);
                assertThat(spec.key(one).name().equals(spec.key(other).name()))
                        .as("%s (%s) and %s (%s)", one, one.getClass(), other, other.getClass())
                        .isEqualTo(i == j);
            }
        }
    }

    @Test
    void holdsTheFieldsThatEqualsIgnores() {
        Labelled one = new Labelled(1, "a");
        Labelled other = new Labelled(1, "b");
        assertThat(one).isEqualTo(other);
        assertThat(spec.key(one)).isNotEqualTo(spec.key(other));
    }

    static final class Labelled {

        private final long id;
        private final String label;

        Labelled(long id, String label) {
            this.id = id;
            this.label = label;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Labelled same && id == same.id;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(id);
        }

        @Override
        public String toString() {
            return label;
        }
    }

    @Test
    void staysUnambiguousInsideListsRecordsAndOptionals() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            Object one = nested(random, 3);
            Object other = nested(random, 3);
            assertThat(spec.key(one).equals(spec.key(other)))
                    .as("%s and %s", one, other)
                    .isEqualTo(one.equals(other));
        }
    }

    private static Object nested(Random random, int depth) {
        return switch (depth == 0 ? 3 : random.nextInt(5)) {
            case 0 ->
                Stream.generate(() -> nested(random, depth - 1))
                        .limit(random.nextInt(3))
                        .toList();
            case 1 -> Optional.of(nested(random, depth - 1));
            case 2 -> new Pair(nested(random, depth - 1), random.nextBoolean() ? null : nested(random, depth - 1));
            default ->
                List.of(1L, "1", "", "\\", ",", "]", true, "true", Wine.RED, new UserId(","))
                        .get(random.nextInt(10));
        };
    }

    @Test
    void countsWholeNumbersAsEqualByTheirValue() {
        for (Object one : List.of((byte) 1, (short) 1, 1, BigInteger.ONE)) {
            assertThat(spec.key(one)).isEqualTo(spec.key(1L));
        }
    }

    @Test
    void countsDatesAsEqualByTheirTime() {
        long time = NOW.toEpochMilli();
        for (Date one : List.of(new java.sql.Date(time), new java.sql.Time(time), new Timestamp(time))) {
            assertThat(spec.key(one)).isEqualTo(spec.key(new Date(time)));
        }
    }

    @Test
    void dependsOnNeitherZoneNorLocale() {
        TimeZone zone = TimeZone.getDefault();
        Locale locale = Locale.getDefault();
        List<String> before =
                ZOO.stream().map(part -> spec.key(part.get()).name()).toList();
        try {
            TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
            Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
            assertThat(ZOO.stream().map(part -> spec.key(part.get()).name())).isEqualTo(before);
        } finally {
            TimeZone.setDefault(zone);
            Locale.setDefault(locale);
        }
    }

    @Test
    void isTheSameOnNodesOfAllZonesForLocalDatesAndTimes() {
        for (Supplier<Object> part : ValuesOfZones.ALL) {
            assertThat(ValuesOfZones.ZONES.stream()
                            .map(zone -> ValuesOfZones.in(
                                    zone, () -> spec.key(part.get()).name()))
                            .distinct())
                    .hasSize(1);
        }
        for (String zone : ValuesOfZones.ZONES) {
            assertThat(ValuesOfZones.ALL.stream()
                            .map(part -> ValuesOfZones.in(
                                    zone, () -> spec.key(part.get()).name()))
                            .distinct())
                    .hasSameSizeAs(ValuesOfZones.ALL);
        }
        assertThat(spec.key(java.sql.Date.valueOf("2026-11-26")).name()).isEqualTo("any::Date[2026-11-26]");
        assertThat(spec.key(java.sql.Time.valueOf("10:11:00")).name()).isEqualTo("any::Date[10\\:11\\:00]");
    }

    /** Versions of one record. */
    private interface V1 {
        record Route(String from, @Nullable String to) {}
    }

    private interface V2 {
        record Route(@Nullable String to, String from) {}
    }

    private interface V3 {
        record Route(String start, @Nullable String to) {}
    }

    private String inVersion(Object route) {
        return spec.key(route).name().replaceAll("V\\d", "V");
    }

    @Test
    void isThatOfTheSameValueInAnotherVersionOfItsRecord() {
        assertThat(spec.key(new V1.Route("EUR", "USD")).name())
                .isEqualTo("any::" + V1.Route.class.getName() + "[from=EUR,to=USD]");
        assertThat(inVersion(new V2.Route("USD", "EUR"))).isEqualTo(inVersion(new V1.Route("EUR", "USD")));
        assertThat(inVersion(new V2.Route("EUR", "USD"))).isNotEqualTo(inVersion(new V1.Route("EUR", "USD")));
        assertThat(inVersion(new V3.Route("EUR", "USD"))).isNotEqualTo(inVersion(new V1.Route("EUR", "USD")));
    }

    @Test
    void namesTheFieldsOfSuperclasses() {
        assertThat(spec.key(new Weight("1.50", "kg")).name())
                .isEqualTo("any::" + Weight.class.getName() + "[amount=BigDecimal[1.50],unit=kg]");
        assertThat(spec.key(new V1.Route("a:b", null)).name())
                .isEqualTo("any::" + V1.Route.class.getName() + "[from=a\\:b,to=\\N]");
    }

    // Types without a text

    static final class Mutable {

        private String name = "a";

        @Override
        public String toString() {
            return name;
        }
    }

    static final class Nothing {

        @Override
        public String toString() {
            return "nothing";
        }
    }

    record IgnoringCase(String name) {

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof IgnoringCase same && name.equalsIgnoreCase(same.name);
        }

        @Override
        public int hashCode() {
            return name.toLowerCase(Locale.ROOT).hashCode();
        }
    }

    record Ids(long[] values) {}

    record All() implements Shape {}

    record None() implements Shape {}

    /** The class of a lambda has another name in each process. */
    private static Supplier<Object> capturing(Object value) {
        return () -> value;
    }

    record Tree(List<Tree> children) {}

    static Stream<Arguments> unfit() {
        Stream<Object> values = Stream.of(
                new int[] {1},
                new String[] {"a"},
                Set.of(1),
                Map.of(1, 2),
                new AtomicLong(1),
                new StringBuilder("a"),
                Calendar.getInstance(),
                TimeZone.getDefault(),
                Pattern.compile("a"),
                Path.of("a"),
                URI.create("http://a"),
                new Mutable(),
                new Nothing(),
                capturing("a"),
                new IgnoringCase("a"),
                new Ids(new long[] {1}));
        return values.map(value -> Arguments.of(new Object[] {value}));
    }

    @ParameterizedTest
    @MethodSource("unfit")
    void refusesAValueWithoutOne(Object part) {
        String name = part instanceof Ids ? "long[]" : part.getClass().getTypeName();
        List<Object> places = List.of(part, List.of("a", part), Optional.of(part), new UserId(part));
        for (Object place : places) {
            assertThatThrownBy(() -> spec.key(place))
                    .isInstanceOf(InvalidCacheKeyException.class)
                    .hasMessageContaining(name)
                    .hasMessageContaining("Use its id or a list of texts, or make it a record");
        }
        assertThat(CacheKey.unfitFor(part.getClass())).isNotNull();
    }

    @Test
    void isTheTypeAloneOfARecordWithoutComponents() {
        String name = All.class.getName();
        assertThat(spec.key(new All()).toString()).endsWith("::" + name + "[]");
        assertThat(spec.key(new All())).isEqualTo(spec.key(new All())).isNotEqualTo(spec.key(new None()));
        assertThat(spec.key(List.of(new All(), new None())))
                .isNotEqualTo(spec.key(List.of(new None(), new All())))
                .isNotEqualTo(spec.key(List.of(new All())));
        assertThat(spec.key(name + "[]")).isNotEqualTo(spec.key(new All()));
        assertThat(CacheKey.unfitFor(All.class)).isNull();
    }

    @Test
    void refusesNullInsideAListAndWhatNeverEnds() {
        assertThatThrownBy(() -> spec.key(Arrays.asList("a", null)))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("is null");
        List<Object> circle = new ArrayList<>();
        circle.add(circle);
        assertThatThrownBy(() -> spec.key(circle)).isInstanceOf(InvalidCacheKeyException.class);
    }

    @Test
    void isRefusedByTheDeclaredTypeWhereThatSuffices() {
        List<ParameterizedTypeReference<?>> unfit = List.of(
                new ParameterizedTypeReference<List<int[]>>() {},
                new ParameterizedTypeReference<List<Set<String>>>() {},
                new ParameterizedTypeReference<Optional<Map<String, String>>>() {},
                new ParameterizedTypeReference<List<? extends Mutable>>() {},
                new ParameterizedTypeReference<List<String>[]>() {},
                new ParameterizedTypeReference<Collection<String>>() {});
        assertThat(unfit).allSatisfy(type -> assertThat(CacheKey.unfitFor(type.getType()))
                .isNotNull());
        List<Type> fit = List.of(
                long.class,
                Object.class,
                Comparable.class,
                Number.class,
                Shape.class,
                Money.class,
                Tree.class,
                Color.class,
                Date.class,
                ZoneId.class,
                Locale.class,
                new ParameterizedTypeReference<List<Optional<UserId>>>() {}.getType());
        assertThat(fit).allSatisfy(type -> assertThat(CacheKey.unfitFor(type)).isNull());
    }

    @Test
    void isOfAKindThatTheDeclaredTypeTells() {
        Map<Class<?>, Set<Class<?>>> same = Map.of(
                long.class, Set.of(int.class, Long.class, BigInteger.class),
                boolean.class, Set.of(Boolean.class),
                List.class, Set.of(ArrayList.class),
                Date.class, Set.of(Timestamp.class, java.sql.Date.class),
                ZoneId.class, Set.of(ZoneOffset.class),
                Color.class, Set.of(),
                BigDecimal.class, Set.of(),
                OffsetDateTime.class, Set.of(),
                String.class, Set.of());
        same.forEach((one, others) -> {
            others.forEach(other -> assertThat(mayBeSame(one, other)).isTrue());
            same.keySet().forEach(other -> assertThat(mayBeSame(one, other)).isEqualTo(one == other));
            for (Type any : List.of(Object.class, Comparable.class, Number.class, Serializable.class, Money.class)) {
                assertThat(mayBeSame(one, any)).as("%s and %s", one, any).isTrue();
            }
        });
    }

    @Test
    void isOfAKindThatTheDeclaredContentTells() {
        Type numbers = new ParameterizedTypeReference<List<Long>>() {}.getType();
        Type texts = new ParameterizedTypeReference<List<String>>() {}.getType();
        Type nested = new ParameterizedTypeReference<List<Optional<Long>>>() {}.getType();
        Type nestedTexts = new ParameterizedTypeReference<List<Optional<String>>>() {}.getType();
        assertThat(mayBeSame(numbers, texts)).isFalse();
        assertThat(mayBeSame(numbers, nested)).isFalse();
        assertThat(mayBeSame(nested, nestedTexts)).isFalse();
        List<Type> matching = List.of(
                List.class,
                Object.class,
                new ParameterizedTypeReference<ArrayList<Integer>>() {}.getType(),
                new ParameterizedTypeReference<List<? extends Number>>() {}.getType(),
                new ParameterizedTypeReference<List<?>>() {}.getType(),
                new ParameterizedTypeReference<Numbered<String>>() {}.getType());
        assertThat(matching).allMatch(other -> mayBeSame(numbers, other));
    }

    /** Its argument is not the type of its elements. */
    @SuppressWarnings("UnusedTypeParameter") // it is tested
    private static final class Numbered<L> extends ArrayList<Long> {

        private static final long serialVersionUID = 1L;
    }

    /** A subclass of a class with a text of its own would be of the kind of that class, and is refused. */
    @Test
    void refusesASubclassOfAClassWithATextOfItsOwn() {
        for (Object part : List.of(new BigDecimal("42") {}, new BigInteger("42") {}, new Date(0) {})) {
            assertThatThrownBy(() -> spec.key(part)).isInstanceOf(InvalidCacheKeyException.class);
        }
    }

    private static boolean mayBeSame(Type one, Type other) {
        boolean same = CacheKey.mayBeSamePart(one, other);
        assertThat(CacheKey.mayBeSamePart(other, one)).isEqualTo(same);
        return same;
    }
}
