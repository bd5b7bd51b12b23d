package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;
import javax.xml.namespace.QName;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.FieldPersistence;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.matcher.ElementMatchers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.util.LinkedCaseInsensitiveMap;

/** What counts as the same content. */
@SuppressWarnings("JdkObsolete") // linked lists are among what applications return
class DeepComparisonTests {

    /** Equal by its id alone, as entities are. */
    static class User {

        final long id;
        final @Nullable String name;

        @Nullable Object friend;

        transient int visits;

        User(long id, @Nullable String name) {
            this.id = id;
            this.name = name;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof User user && user.id == id;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(id);
        }
    }

    static class Admin extends User {

        Admin(long id, String name) {
            super(id, name);
        }
    }

    /** Without an equals. */
    static class Line {

        final Object content;

        Line(Object content) {
            this.content = content;
        }
    }

    static class Lines extends ArrayList<String> {

        private static final long serialVersionUID = 1L;

        int total;

        Lines(int total, String... lines) {
            super(Arrays.asList(lines));
            this.total = total;
        }
    }

    /** Finds names in any case, as the rows of a {@code JdbcTemplate} do. */
    static class Row extends LinkedHashMap<String, Object> {

        private static final long serialVersionUID = 1L;

        @Override
        public @Nullable Object get(Object name) {
            return super.get(name.toString().toUpperCase(Locale.ROOT));
        }
    }

    @SuppressWarnings({"serial", "DoubleBraceInitialization"}) // what applications return
    private static List<Integer> doubleBraces() {
        return new ArrayList<>() {
            {
                add(1);
            }
        };
    }

    private static Row row() {
        Row row = new Row();
        row.put("NAME", "a");
        return row;
    }

    private static Map<String, Object> caseInsensitive() {
        Map<String, Object> map = new LinkedCaseInsensitiveMap<>();
        map.put("NAME", "a");
        return map;
    }

    private static Properties withDefault() {
        Properties defaults = new Properties();
        defaults.setProperty("a", "b");
        return new Properties(defaults);
    }

    private static Map<String, Object> ignoringCase(String key) {
        Map<String, Object> map = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        map.put(key, 1);
        return map;
    }

    private static Map<String, Integer> inOrder(String... keys) {
        Map<String, Integer> map = new LinkedHashMap<>();
        Stream.of(keys).forEach(key -> map.put(key, 1));
        return map;
    }

    /** An entity with the fields that bytecode enhancement adds. */
    private static final Class<?> ENHANCED = enhanced();

    private static Class<?> enhanced() {
        DynamicType.Builder<?> type = new ByteBuddy().subclass(Object.class).name("shop.Customer");
        for (String field : List.of(
                "$$_hibernate_entityEntryHolder",
                "$$_hibernate_attributeInterceptor",
                "_persistence_session",
                "_persistence_fetchGroup",
                "_persistence_orders_vh",
                "session")) {
            type = type.defineField(field, Object.class, Visibility.PRIVATE, FieldPersistence.TRANSIENT);
        }
        return type.defineField("$$_hibernate_name", Object.class, Visibility.PRIVATE)
                .make()
                .load(DeepComparisonTests.class.getClassLoader())
                .getLoaded();
    }

    /** What Hibernate puts into {@code $$_hibernate_attributeInterceptor}. */
    public interface Interceptor {

        boolean hasAnyUninitializedAttributes();
    }

    /** An interceptor that implements the interface of Hibernate. */
    private static Object interceptor(boolean hasAnyUninitializedAttributes) {
        try {
            Class<?> lazy = new ByteBuddy()
                    .makeInterface(Interceptor.class)
                    .name("org.hibernate.bytecode.enhance.spi.interceptor.BytecodeLazyAttributeInterceptor")
                    .make()
                    .load(DeepComparisonTests.class.getClassLoader())
                    .getLoaded();
            return new ByteBuddy()
                    .subclass(Object.class)
                    .implement(lazy)
                    .method(ElementMatchers.named("hasAnyUninitializedAttributes"))
                    .intercept(FixedValue.value(hasAnyUninitializedAttributes))
                    .make()
                    .load(lazy.getClassLoader())
                    .getLoaded()
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Object enhanced(String field, @Nullable Object content) {
        try {
            Object entity = ENHANCED.getConstructor().newInstance();
            Field declared = ENHANCED.getDeclaredField(field);
            declared.setAccessible(true);
            declared.set(entity, content);
            return entity;
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Content and hash as those of a message of Protobuf, which keeps numbers that it has computed. */
    public static class Content {

        @Nullable String text;

        int memoizedSize;

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Content content && Objects.equals(content.text, text);
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(text);
        }
    }

    private static final Class<?> MESSAGE = message();

    /** A subclass of a class that implements the interface of Protobuf's messages. */
    private static Class<?> message() {
        ByteBuddy types = new ByteBuddy();
        Class<?> lite = types.makeInterface()
                .name("com.google.protobuf.MessageLite")
                .make()
                .load(DeepComparisonTests.class.getClassLoader())
                .getLoaded();
        Class<?> message = types.subclass(Content.class)
                .implement(lite)
                .name("shop.Message")
                .make()
                .load(lite.getClassLoader())
                .getLoaded();
        return types.subclass(message)
                .name("shop.Order")
                .make()
                .load(message.getClassLoader())
                .getLoaded();
    }

    private static Object message(String text, int memoizedSize) {
        try {
            Content message = (Content) MESSAGE.getConstructor().newInstance();
            message.text = text;
            message.memoizedSize = memoizedSize;
            return message;
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** A class of the name that Kotlin's maps {@code withDefault} have. */
    private static Object kotlinWithDefault() {
        try {
            return new ByteBuddy()
                    .subclass(LinkedHashMap.class)
                    .name("kotlin.collections.MutableMapWithDefaultImpl")
                    .make()
                    .load(DeepComparisonTests.class.getClassLoader())
                    .getLoaded()
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** A hash map of another history, whose keys collide, so that its order is another one. */
    private static <M extends Map<String, Integer>> M filled(M map, String... keys) {
        Stream.of(keys).forEach(key -> map.put(key, 1));
        return map;
    }

    private static Set<String> concurrent(String... elements) {
        Set<String> set = ConcurrentHashMap.newKeySet();
        set.addAll(List.of(elements));
        return set;
    }

    /** Users as keys. The one with the name b has the id 2, any other one the id 1. */
    private static Map<User, Integer> users(Map<User, Integer> map, @Nullable String... names) {
        Stream.of(names).forEach(name -> map.put(new User("b".equals(name) ? 2 : 1, name), 1));
        return map;
    }

    private static XMLGregorianCalendar calendar(String text) {
        return DatatypeFactory.newDefaultInstance().newXMLGregorianCalendar(text);
    }

    /** Parts that make no type of XML. */
    private static XMLGregorianCalendar yearAndHour(int hour) {
        XMLGregorianCalendar calendar = DatatypeFactory.newDefaultInstance().newXMLGregorianCalendar();
        calendar.setYear(2026);
        calendar.setHour(hour);
        return calendar;
    }

    private static LongAdder adder(long sum) {
        LongAdder adder = new LongAdder();
        adder.add(sum);
        return adder;
    }

    static Stream<Arguments> alike() {
        return Stream.of(
                Arguments.of(calendar("2026-11-26T10:00:00+02:00"), calendar("2026-11-26T10:00:00+02:00")),
                Arguments.of(calendar("2026-11-26T10:00:00Z"), calendar("2026-11-26T10:00:00.000Z")),
                Arguments.of(calendar("2026-11-26T10:00:00.5Z"), calendar("2026-11-26T10:00:00.500Z")),
                Arguments.of(
                        Collections.unmodifiableMap(filled(new HashMap<>(), "Aa", "BB")),
                        Collections.unmodifiableMap(filled(new HashMap<>(), "BB", "Aa"))),
                Arguments.of(
                        Collections.unmodifiableMap(
                                filled(new TreeMap<>(Comparator.comparing(Thread.State::valueOf)), "NEW")),
                        filled(new TreeMap<>(), "NEW")),
                Arguments.of(
                        enhanced("$$_hibernate_entityEntryHolder", 1),
                        enhanced("$$_hibernate_entityEntryHolder", null)),
                Arguments.of(
                        enhanced("$$_hibernate_attributeInterceptor", interceptor(false)),
                        enhanced("$$_hibernate_attributeInterceptor", null)),
                Arguments.of(enhanced("_persistence_session", 1), enhanced("_persistence_session", null)),
                Arguments.of(message("a", 3), message("a", -1)),
                Arguments.of(Pattern.compile("a+"), Pattern.compile("a+")),
                Arguments.of(new AtomicIntegerArray(new int[] {1}), new AtomicIntegerArray(new int[] {1})),
                Arguments.of(new AtomicLongArray(new long[] {1}), new AtomicLongArray(new long[] {1})),
                Arguments.of(adder(2), adder(2)),
                Arguments.of(yearAndHour(3), yearAndHour(3)),
                Arguments.of(new QName("urn:a", "b", "c"), new QName("urn:a", "b", "c")),
                Arguments.of(ByteBuffer.wrap(new byte[] {1, 0}), ByteBuffer.wrap(new byte[] {1, 0})),
                Arguments.of(filled(new HashMap<>(), "Aa", "BB"), filled(new HashMap<>(), "BB", "Aa")),
                Arguments.of(filled(new HashMap<>(), "Aa", "BB"), inOrder("BB", "Aa")),
                Arguments.of(
                        filled(new ConcurrentHashMap<>(), "Aa", "BB"), filled(new ConcurrentHashMap<>(), "BB", "Aa")),
                Arguments.of(filled(new Hashtable<>(), "Aa", "BB"), filled(new Hashtable<>(), "BB", "Aa")),
                Arguments.of(
                        Collections.unmodifiableSet(new HashSet<>(List.of("Aa", "BB"))),
                        Collections.unmodifiableSet(new HashSet<>(List.of("BB", "Aa")))),
                Arguments.of(concurrent("Aa", "BB"), concurrent("BB", "Aa")),
                Arguments.of(concurrent("Aa", "BB"), new LinkedHashSet<>(List.of("BB", "Aa"))),
                Arguments.of(Set.of("Aa", "BB"), new LinkedHashSet<>(List.of("Aa", "BB"))),
                Arguments.of(Set.of("Aa", "BB"), new LinkedHashSet<>(List.of("BB", "Aa"))),
                Arguments.of(
                        new HashSet<>(Arrays.asList("Aa", null, "BB")),
                        new LinkedHashSet<>(Arrays.asList("BB", "Aa", null))),
                Arguments.of(users(new HashMap<>(), "a", "b"), users(new LinkedHashMap<>(), "b", "a")),
                Arguments.of(new EnumMap<>(Map.of(Thread.State.NEW, 1)), Map.of(Thread.State.NEW, 1)),
                Arguments.of(Collections.unmodifiableMap(inOrder("Host", "b")), inOrder("Host", "b")),
                Arguments.of(Collections.unmodifiableMap(Map.of(1, 2)), Map.of(1, 2)),
                Arguments.of(Collections.unmodifiableMap(inOrder("ID", "id")), inOrder("ID", "id")),
                Arguments.of(Collections.unmodifiableSet(Set.of("Host")), Set.of("Host")),
                Arguments.of("a", "a"),
                Arguments.of(new BigDecimal("1.0"), new BigDecimal("1.0")),
                Arguments.of(Double.NaN, Double.NaN),
                Arguments.of(new AtomicInteger(1), new AtomicInteger(1)),
                Arguments.of(new User(1, "a"), new User(1, "a")),
                Arguments.of(new Line(new Line("a")), new Line(new Line("a"))),
                Arguments.of(List.of("a", "b"), new LinkedList<>(List.of("a", "b"))),
                Arguments.of(List.of(new Line("a")), new ArrayList<>(List.of(new Line("a")))),
                Arguments.of(Set.of("a", "b", "c"), new LinkedHashSet<>(Set.of("a", "b", "c"))),
                Arguments.of(new HashSet<>(List.of("a", "b")), new LinkedHashSet<>(List.of("b", "a"))),
                Arguments.of(new HashSet<>(List.of(new Line(1))), new LinkedHashSet<>(List.of(new Line(1)))),
                Arguments.of(Map.of("a", new Line(1)), new LinkedHashMap<>(Map.of("a", new Line(1)))),
                Arguments.of(new HashMap<>(Map.of("a", 1, "b", 2)), new TreeMap<>(Map.of("b", 2, "a", 1))),
                Arguments.of(new ArrayDeque<>(List.of(1, 2)), new LinkedList<>(List.of(1, 2))),
                Arguments.of(Map.of("a", 1).values(), new ArrayList<>(List.of(1))),
                Arguments.of(Optional.of(new Line("a")), Optional.of(new Line("a"))),
                Arguments.of(new Line(new int[] {1}), new Line(new int[] {1})),
                Arguments.of(new Line(new Object[] {new Line(1)}), new Line(new Object[] {new Line(1)})),
                Arguments.of(doubleBraces(), new ArrayList<>(List.of(1))),
                Arguments.of(Collections.synchronizedMap(new HashMap<>()), new LinkedHashMap<>()),
                Arguments.of(new AbstractMap.SimpleEntry<>("a", 1), new AbstractMap.SimpleEntry<>("a", 1)),
                Arguments.of(new Properties(), new Properties()),
                Arguments.of(row(), row()),
                Arguments.of(new Lines(1, "a"), new Lines(1, "a")));
    }

    @ParameterizedTest
    @MethodSource("alike")
    void findsNoDifference(Object original, Object copy) {
        assertThat(DeepComparison.difference(original, copy)).isNull();
    }

    static Stream<Arguments> unlike() {
        User visited = new User(1, "a");
        visited.visits = 3;
        return Stream.of(
                Arguments.of("a", "b", ": another java.lang.String"),
                Arguments.of(calendar("2026-11-26T10:00:00+02:00"), calendar("2026-11-26T08:00:00Z"), ": another "),
                Arguments.of(calendar("2026-11-26Z"), calendar("2026-11-26T00:00:00Z"), ": another "),
                Arguments.of(new QName("urn:a", "b", "c"), new QName("urn:a", "b"), ": another javax.xml"),
                Arguments.of(
                        ByteBuffer.wrap(new byte[] {1, 0}).order(ByteOrder.LITTLE_ENDIAN),
                        ByteBuffer.wrap(new byte[] {1, 0}),
                        ": another java.nio"),
                Arguments.of(message("a", 3), message("b", 3), ": another shop.Order"),
                Arguments.of(Pattern.compile("a+"), Pattern.compile("a*"), ": another java.util.regex"),
                Arguments.of(
                        Pattern.compile("a+"), Pattern.compile("a+", Pattern.CASE_INSENSITIVE), ": another java.util"),
                Arguments.of(
                        new AtomicIntegerArray(new int[] {1}), new AtomicIntegerArray(new int[] {2}), ": another java"),
                Arguments.of(
                        new AtomicLongArray(new long[] {1}), new AtomicLongArray(new long[] {2}), ": another java"),
                Arguments.of(adder(2), adder(3), ": another java"),
                Arguments.of(yearAndHour(3), yearAndHour(4), ": another "),
                Arguments.of(new ReentrantLock(), new ReentrantLock(), ": another java"),
                Arguments.of(new IllegalStateException("a"), new IllegalStateException("a"), ": another java"),
                lost("$$_hibernate_attributeInterceptor"),
                Arguments.of(
                        enhanced("$$_hibernate_attributeInterceptor", interceptor(true)),
                        enhanced("$$_hibernate_attributeInterceptor", null),
                        ".$$_hibernate_attributeInterceptor: null instead of "),
                lost("_persistence_fetchGroup"),
                lost("_persistence_orders_vh"),
                lost("session"),
                lost("$$_hibernate_name"),
                Arguments.of(inOrder("a", "b"), inOrder("b", "a"), " key: another"),
                Arguments.of(
                        users(new HashMap<>(), "a", "b"), users(new LinkedHashMap<>(), "b", null), " key.name: null"),
                Arguments.of(
                        new LinkedHashSet<>(List.of("a", "b")), new LinkedHashSet<>(List.of("b", "a")), "[0]: another"),
                Arguments.of(
                        new CopyOnWriteArraySet<>(List.of("a", "b")),
                        new CopyOnWriteArraySet<>(List.of("b", "a")),
                        "[0]: another"),
                Arguments.of(Set.of("a", "b"), new LinkedHashSet<>(List.of("a", "c")), ": another"),
                Arguments.of(
                        new ConcurrentSkipListMap<>(inOrder("AaBB", "BBBB", "BBAa", "AaAa")),
                        inOrder("BBAa", "AaAa", "AaBB", "BBBB"),
                        " key: another"),
                Arguments.of(kotlinWithDefault(), Map.of(), "may behave differently"),
                Arguments.of(Collections.unmodifiableMap(ignoringCase("Host")), Map.of("Host", 1), "ignore"),
                Arguments.of(Collections.synchronizedMap(caseInsensitive()), Map.of("NAME", "a"), "ignore"),
                Arguments.of(Collections.unmodifiableSet(ignoringCase("Host").keySet()), Set.of("Host"), "ignore"),
                Arguments.of(1L, 1, ": java.lang.Integer instead of java.lang.Long"),
                Arguments.of(new BigDecimal("1.0"), new BigDecimal("1.00"), ": another java.math.BigDecimal"),
                Arguments.of(new User(1, "a"), new User(1, null), ".name: null instead of java.lang.String"),
                Arguments.of(new Admin(1, "a"), new User(1, "a"), "User instead of"),
                Arguments.of(List.of(new Admin(1, "a")), List.of(new User(1, "a")), "[0]: "),
                Arguments.of(List.of(new User(1, "a")), List.of(Map.of("id", 1)), "[0]: "),
                Arguments.of(visited, new User(1, "a"), ".visits: another java.lang.Integer (it is transient)"),
                Arguments.of(List.of(1), Set.of(1), " instead of "),
                Arguments.of(Set.of(1), List.of(1), " instead of "),
                Arguments.of(List.of(1), List.of(1, 2), ": another "),
                Arguments.of(List.of(1, 2), List.of(2, 1), "[0]: "),
                Arguments.of(Map.of("a", 1), Map.of("a", 2), "{}: "),
                Arguments.of(Map.of("a", 1), Map.of("b", 1), " key: "),
                Arguments.of(Map.of(1L, 1), Map.of(1, 1), " key: "),
                Arguments.of(new HashSet<>(List.of(new User(1, "a"))), Set.of(new User(1, "b")), "[0].name: "),
                Arguments.of(sorted("a", "B"), new TreeSet<>(List.of("a", "B")), "without the order"),
                Arguments.of(new Line(new int[] {1}), new Line(new int[] {2}), ".content: another int[]"),
                Arguments.of(Optional.of(1), Optional.of(1L), ": java.lang.Long instead of"),
                Arguments.of(new Lines(1, "a"), new Lines(2, "a"), ".total: "),
                Arguments.of(new Lines(1, "a"), new Lines(1, "b"), "[0]: "),
                Arguments.of(new Lines(1, "a"), List.of("a"), "may behave differently"),
                Arguments.of(row(), new LinkedHashMap<>(Map.of("NAME", "a")), "may behave differently"),
                Arguments.of(List.of(row()), List.of(Map.of("NAME", "a")), "[0]: "),
                Arguments.of(caseInsensitive(), Map.of("NAME", "a"), "may behave differently"),
                Arguments.of(new IdentityHashMap<>(), Map.of(), "may behave differently"),
                Arguments.of(withDefault(), new Properties(), ": another java.util.Properties"),
                Arguments.of(
                        new AbstractMap.SimpleEntry<>("a", new User(1, "a")),
                        new AbstractMap.SimpleEntry<>("a", new User(1, "b")),
                        "{}.name: "),
                Arguments.of(
                        new AbstractMap.SimpleEntry<>(new User(1, "a"), "a"),
                        new AbstractMap.SimpleEntry<>(new User(1, "b"), "a"),
                        " key.name: "));
    }

    /** Its content tells that attributes are not loaded, or it is no field of the provider. */
    private static Arguments lost(String field) {
        return Arguments.of(enhanced(field, 1), enhanced(field, null), "." + field + ": null instead of ");
    }

    private static Collection<String> sorted(String... texts) {
        Set<String> set = new TreeSet<>(Comparator.reverseOrder());
        set.addAll(List.of(texts));
        return set;
    }

    @ParameterizedTest
    @MethodSource("unlike")
    void saysWhereTheyDiffer(Object original, Object copy, String difference) {
        assertThat(DeepComparison.difference(original, copy)).contains(difference);
    }

    /** Their hash is that of their identity, so only the order of the original finds the copies. */
    @Test
    void comparesObjectsWithoutEqualsInTheOrderOfTheirSet() {
        Set<Line> lines = new HashSet<>();
        IntStream.range(0, 20).forEach(number -> lines.add(new Line(number)));
        Set<Line> copies = new LinkedHashSet<>();
        lines.forEach(line -> copies.add(new Line(line.content)));

        assertThat(DeepComparison.difference(lines, copies)).isNull();
    }

    @Test
    void endsInACircle() {
        assertThat(DeepComparison.difference(circle("a"), circle("a"))).isNull();
        assertThat(DeepComparison.difference(circle("a"), circle("b")))
                .isEqualTo(".friend.name: another java.lang.String");
    }

    private static User circle(String name) {
        User one = new User(1, "one");
        User other = new User(2, name);
        one.friend = other;
        other.friend = one;
        return one;
    }
}
