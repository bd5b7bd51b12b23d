package io.easykit.cache.aop;

import com.fasterxml.jackson.annotation.JsonBackReference;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonManagedReference;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.annotation.JsonView;
import io.easykit.cache.annotation.Cacheable;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Transient;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.Calendar;
import java.util.Collection;
import java.util.Comparator;
import java.util.Currency;
import java.util.Date;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.hibernate.collection.spi.PersistentBag;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.proxy.HibernateProxy;
import org.hibernate.proxy.LazyInitializer;
import org.jspecify.annotations.Nullable;
import org.mockito.Mockito;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.PageImpl;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.SliceImpl;
import org.springframework.data.domain.Sort;
import org.springframework.util.LinkedCaseInsensitiveMap;
import reactor.core.publisher.Flux;

/** One method for each row of the table of types in the documentation. */
@SuppressWarnings({
    "JavaUtilDate",
    "JdkObsolete",
    "UnusedVariable",
    "NonFinalStaticField",
    "UnusedMethod",
    "NonApiType",
    "NullAway"
})
class ValueZoo {

    /** The type of a cached value, as named in the table. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Cacheable(prefix = "zoo", keys = "'all'")
    @interface Row {

        String value();
    }

    private static final Instant NOW = Instant.parse("2026-11-20T10:15:30.123456789Z");

    enum Color {
        RED,
        @JsonProperty("green for the web")
        GREEN;

        @Override
        public String toString() {
            return "a color";
        }
    }

    record Point(int x, @Nullable Integer y) {}

    record Box<T>(T content, List<T> more) {}

    /** Mutable, with getters and setters, without equals. */
    static class Bean {

        private @Nullable String name;
        private List<Point> points = List.of();

        public @Nullable String getName() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }
    }

    static class SubBean extends Bean {

        private int more;
    }

    static final class Immutable {

        private final String name;
        private final List<String> tags;

        public Immutable(String name, List<String> tags) {
            this.name = name;
            this.tags = tags;
        }
    }

    /** The class file of {@code data class DataClass(val name: String, var age: Int = 3)}. */
    static final class DataClass {

        private final String name;
        private int age;

        public DataClass(String name, int age) {
            this.name = name;
            this.age = age;
        }

        public String getName() {
            return name;
        }

        public int getAge() {
            return age;
        }

        public void setAge(int age) {
            this.age = age;
        }

        public String component1() {
            return name;
        }

        public DataClass copy(String name, int age) {
            return new DataClass(name, age);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof DataClass data && data.name.equals(name) && data.age == age;
        }

        @Override
        public int hashCode() {
            return name.hashCode() * 31 + age;
        }
    }

    static final class WithFactory {

        private final int length;

        private WithFactory(String text) {
            this.length = text.length();
        }

        static WithFactory of(String text) {
            return new WithFactory(text);
        }
    }

    static final class WithPrivateConstructor {

        private int length = 1;

        private WithPrivateConstructor() {}
    }

    static final class Annotated {

        @JsonIgnore
        private String ignored = "a";

        @JsonProperty(access = JsonProperty.Access.WRITE_ONLY)
        private String password = "b";

        @JsonFormat(pattern = "yyyy")
        private LocalDate day = LocalDate.of(2026, 11, 20);

        @JsonInclude(JsonInclude.Include.NON_NULL)
        @JsonView(Point.class)
        private @Nullable String view = "c";

        public String getPassword() {
            return "***";
        }
    }

    static final class Money {

        private final String text;

        private Money(String text) {
            this.text = text;
        }

        @JsonCreator
        static Money of(String text) {
            return new Money(text);
        }

        @JsonValue
        String text() {
            return text;
        }
    }

    static final class Masked {

        private final String text;

        @JsonCreator
        Masked(String text) {
            this.text = text;
        }

        @JsonValue
        String masked() {
            return "***";
        }
    }

    static final class WithTransient {

        private transient String token = "";
    }

    static final class Circular {

        private @Nullable Circular self;
    }

    sealed interface Plain {}

    record PlainOne(int a) implements Plain {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME)
    sealed interface Named {}

    record NamedOne(int a) implements Named {}

    record NamedTwo(String b) implements Named {}

    abstract static class AbstractBase {}

    interface Projection {

        String getName();
    }

    record HasPlain(@Nullable Plain plain) {}

    static class ListWithTotal extends java.util.ArrayList<String> {

        private static final long serialVersionUID = 1L;

        private int total = 3;
    }

    @Entity
    static class Customer {

        @Id
        private long id = 7;

        @Transient
        private String note = "kept";

        private Timestamp changed = Timestamp.from(NOW);

        @OneToMany(mappedBy = "customer", fetch = FetchType.LAZY)
        @JsonManagedReference
        private List<Purchase> purchases = new java.util.ArrayList<>();
    }

    @Entity
    static class Visit {

        @Id
        private long id = 9;

        @ManyToOne(fetch = FetchType.LAZY)
        private @Nullable Customer customer;
    }

    /** Part of a class generated by Hibernate. */
    static final class CustomerProxy extends Customer implements HibernateProxy {

        private static final long serialVersionUID = 1L;

        @Override
        public Object writeReplace() {
            throw new AssertionError("called");
        }

        @Override
        public LazyInitializer getHibernateLazyInitializer() {
            throw new AssertionError("called");
        }
    }

    @Entity
    static class Purchase {

        @Id
        private long id = 8;

        @ManyToOne(fetch = FetchType.LAZY)
        @JsonBackReference
        private @Nullable Customer customer;
    }

    // JDK

    @Row("`long`, `int`, `double`, `boolean` … and their boxes")
    public long primitive() {
        return Long.MAX_VALUE;
    }

    @Row("a box that is `null`")
    public @Nullable Integer nothing() {
        return null;
    }

    @Row("`String`")
    public String text() {
        return "\u0000 \ud83d\ude00 \"\\";
    }

    @Row("`char`")
    public char character() {
        return 'ß';
    }

    @Row("`BigDecimal`, with its scale")
    public BigDecimal decimal() {
        return new BigDecimal("1.00");
    }

    @Row("`BigInteger`")
    public BigInteger integer() {
        return BigInteger.TEN.pow(40);
    }

    @Row("an enum, whatever its `toString()` and `@JsonProperty`")
    public Color constant() {
        return Color.GREEN;
    }

    @Row("`UUID`")
    public UUID id() {
        return new UUID(1, 2);
    }

    @Row("`Optional<T>`, empty too")
    public Optional<Point> optional() {
        return Optional.of(new Point(1, null));
    }

    @Row("`OptionalInt`")
    public OptionalInt optionalInt() {
        return OptionalInt.of(1);
    }

    @Row("`Instant`, `LocalDate`, `LocalDateTime`, `OffsetDateTime` with their nanoseconds")
    public List<LocalDateTime> dates() {
        return List.of(LocalDateTime.ofInstant(NOW, ZoneId.of("Asia/Tokyo")));
    }

    @Row("`ZonedDateTime`, with its zone")
    public ZonedDateTime zoned() {
        return NOW.atZone(ZoneId.of("Europe/Berlin"));
    }

    @Row("`Duration`, `Period`, `Year`")
    public Map<Year, Duration> durations() {
        return Map.of(Year.of(2026), Duration.ofNanos(1));
    }

    @Row("`java.util.Date`")
    public Date date() {
        return Date.from(NOW);
    }

    @Row("`java.sql.Date`, `java.sql.Time`")
    public java.sql.Date sqlDate() {
        return new java.sql.Date(NOW.toEpochMilli());
    }

    @Row("`java.sql.Timestamp`, with its nanoseconds")
    public Timestamp timestamp() {
        return Timestamp.from(NOW);
    }

    @Row("`Calendar`")
    public Calendar calendar() {
        return Calendar.getInstance(TimeZone.getTimeZone("Europe/Berlin"));
    }

    @Row("`Locale`")
    public Locale locale() {
        return Locale.GERMANY;
    }

    @Row("`Currency`")
    public Currency currency() {
        return Currency.getInstance("EUR");
    }

    @Row("`byte[]`")
    public byte[] bytes() {
        return new byte[] {0, -1, 127};
    }

    @Row("`long[]`, `String[]`")
    public long[] longs() {
        return new long[] {Long.MIN_VALUE, 0};
    }

    @Row("arrays of records")
    public Point[] points() {
        return new Point[] {new Point(1, 2)};
    }

    @Row("`AtomicLong`")
    public AtomicLong atomic() {
        return new AtomicLong(3);
    }

    // Collections

    @Row("`List<T>` (comes back as an `ArrayList`)")
    public List<Point> list() {
        return List.of(new Point(1, 2));
    }

    @Row("`Set<T>`, in its order (comes back as a `LinkedHashSet`)")
    public Set<String> set() {
        return new LinkedHashSet<>(List.of("z", "a"));
    }

    @Row("`Collection<T>` that is a list, or the values of a map")
    public Collection<String> collection() {
        return Map.of("a", "b").values();
    }

    @Row("`Collection<T>` that is a set")
    public Collection<String> collectionOfASet() {
        return Set.of("a");
    }

    @Row("`Map<String, T>`, `Map<Long, T>`, `Map<Enum, T>` in their order")
    public Map<Long, Point> map() {
        Map<Long, Point> map = new LinkedHashMap<>();
        map.put(3L, new Point(1, 2));
        map.put(1L, new Point(3, 4));
        return map;
    }

    @Row("`Map` with records as keys")
    public Map<Point, String> mapByRecord() {
        return Map.of(new Point(1, 2), "a");
    }

    @Row("`EnumMap`")
    public EnumMap<Color, String> enumMap() {
        return new EnumMap<>(Map.of(Color.RED, "a"));
    }

    @Row("`EnumSet`")
    public EnumSet<DayOfWeek> enumSet() {
        return EnumSet.of(DayOfWeek.MONDAY);
    }

    @Row("`SortedMap`, `TreeSet` in natural order")
    public SortedMap<String, Integer> sortedMap() {
        return new TreeMap<>(Map.of("b", 1, "a", 2));
    }

    @Row("`TreeMap`, `TreeSet` with a comparator")
    public TreeSet<String> sortedByComparator() {
        TreeSet<String> set = new TreeSet<>(Comparator.reverseOrder());
        set.add("a");
        return set;
    }

    @Row("`Deque<T>`")
    public Deque<Integer> deque() {
        return new ArrayDeque<>(List.of(1, 2));
    }

    @Row("a class of yours that extends `ArrayList` and has fields")
    public ListWithTotal listWithTotal() {
        ListWithTotal list = new ListWithTotal();
        list.total = 4;
        return list;
    }

    @Row("a list or a map that behaves in its own way, declared as `List` or `Map`")
    public List<String> listInDisguise() {
        return listWithTotal();
    }

    @Row("rows of `JdbcTemplate.queryForList` and `queryForMap`, whose names ignore case (map them to records)")
    public List<Map<String, Object>> rows() {
        Map<String, Object> row = new LinkedCaseInsensitiveMap<>();
        row.put("NAME", "a");
        return List.of(row);
    }

    @Row("`Map.Entry<K, V>`: a `SimpleEntry`")
    public Map.Entry<String, Integer> entry() {
        return new AbstractMap.SimpleEntry<>("a", 1);
    }

    @Row("`Map.entry(…)`")
    public Map.Entry<String, Integer> immutableEntry() {
        return Map.entry("a", 1);
    }

    @Row("`Map<String, Object>` of texts, `int`, `double`, booleans, lists and maps")
    public Map<String, Object> open() {
        return Map.of("a", 1, "b", List.of("c", 1.5, true));
    }

    @Row("`Map<String, Object>`, `List<Object>`, `List<?>`, raw lists with `long`, dates, `BigDecimal` or objects")
    public Map<String, Object> openWithLong() {
        return Map.of("a", 1L);
    }

    @SuppressWarnings({"rawtypes", "unchecked"})
    @Row("raw `List` of records")
    public List raw() {
        return List.of(new Point(1, 2));
    }

    // Classes

    @Row("record")
    public Point record() {
        return new Point(1, null);
    }

    @Row("generic record")
    public Box<List<Point>> generic() {
        return new Box<>(List.of(new Point(1, 2)), List.of());
    }

    @Row("class with a constructor without parameters (private too), with or without getters and `equals`")
    public Bean bean() {
        Bean bean = new Bean();
        bean.name = "a";
        bean.points = List.of(new Point(1, 2));
        return bean;
    }

    @Row("class with a private constructor without parameters")
    public WithPrivateConstructor privateConstructor() {
        return new WithPrivateConstructor();
    }

    @Row("class with one public constructor of all fields, compiled with `-parameters`")
    public Immutable immutable() {
        return new Immutable("a", List.of("b"));
    }

    @Row("Kotlin data class, compiled with `javaParameters`")
    public DataClass dataClass() {
        return new DataClass("a", 4);
    }

    @Row("class with a private constructor and a factory method only")
    public WithFactory factory() {
        return WithFactory.of("abc");
    }

    @Row("`@JsonIgnore`, `WRITE_ONLY`, `@JsonFormat`, `@JsonView`, `@JsonInclude`: all fields are kept")
    public Annotated annotated() {
        return new Annotated();
    }

    @Row("`@JsonValue` with its `@JsonCreator`")
    public Money money() {
        return Money.of("1 EUR");
    }

    @Row("`@JsonValue` that leaves something out")
    public Masked masked() {
        return new Masked("secret");
    }

    @Row("field that is `transient` and set")
    public WithTransient withTransient() {
        WithTransient value = new WithTransient();
        value.token = "secret";
        return value;
    }

    @Row("object that refers to itself")
    public Circular circular() {
        Circular circular = new Circular();
        circular.self = circular;
        return circular;
    }

    @Row("subclass of the declared class")
    public Bean subclass() {
        return new SubBean();
    }

    @Row("list of subclasses of the declared element")
    public List<Bean> subclasses() {
        return List.of(new Bean(), new SubBean());
    }

    @Row("sealed or abstract type with `@JsonTypeInfo`")
    public List<Named> named() {
        return List.of(new NamedOne(1), new NamedTwo("b"));
    }

    @Row("sealed type or interface without `@JsonTypeInfo`")
    public Plain plain() {
        return new PlainOne(1);
    }

    @Row("abstract class without `@JsonTypeInfo`")
    public AbstractBase abstractBase() {
        return new AbstractBase() {};
    }

    @Row("field of such a type")
    public HasPlain hasPlain() {
        return new HasPlain(new PlainOne(1));
    }

    @Row("interface projection of Spring Data")
    public Projection projection() {
        return () -> "a";
    }

    // JPA

    @Row("JPA entity, with its `@Transient` fields")
    public Customer entity() {
        return new Customer();
    }

    @Row("JPA entities that refer to each other, with `@JsonManagedReference` and `@JsonBackReference`")
    public Customer entityWithCircle() {
        Customer customer = new Customer();
        Purchase purchase = new Purchase();
        purchase.customer = customer;
        customer.purchases.add(purchase);
        return customer;
    }

    @Row("JPA entity with a collection that Hibernate has loaded")
    public Customer entityWithLoadedCollection() {
        Customer customer = new Customer();
        customer.purchases = new PersistentBag<>(session(), List.of(new Purchase()));
        customer.purchases.get(0).customer = customer;
        return customer;
    }

    @Row("JPA entity with a lazy collection that is not loaded (one line, and it is not loaded)")
    public Customer entityWithLazyCollection() {
        Customer customer = new Customer();
        customer.purchases = new PersistentBag<>(session());
        return customer;
    }

    @Row("JPA entity that is a Hibernate proxy, or has one in a field")
    public Visit entityWithProxy() {
        Visit visit = new Visit();
        visit.customer = new CustomerProxy();
        return visit;
    }

    private static SharedSessionContractImplementor session() {
        return Mockito.mock(SharedSessionContractImplementor.class, Mockito.RETURNS_DEEP_STUBS);
    }

    // Spring Data

    @Row("`Page<T>`")
    public Page<Point> page() {
        return new PageImpl<>(
                List.of(new Point(1, 2)), PageRequest.of(3, 10, Sort.by("x").descending()), 77);
    }

    @Row("`Page<T>`, unpaged")
    public Page<Named> unpaged() {
        return new PageImpl<>(List.of(new NamedOne(1)));
    }

    @Row("`Slice<T>`")
    public Slice<Point> slice() {
        return new SliceImpl<>(List.of(new Point(1, 2)), PageRequest.of(0, 1), true);
    }

    @Row("`Sort`")
    public Sort sort() {
        return Sort.by(Sort.Order.asc("a").ignoreCase().nullsLast());
    }

    @Row("`Pageable`, `PageRequest`")
    public Pageable pageable() {
        return PageRequest.of(1, 20);
    }

    // Types that cannot be cached

    @Row("`void`")
    public void noValue() {}

    @Row("`Object`, an unresolved type variable")
    public Object object() {
        return "a";
    }

    @Row("`Stream`, `Iterator`, `InputStream`, `Resource`, `ResponseEntity`")
    public Stream<String> stream() {
        return Stream.of("a");
    }

    @Row("`Flux`, other futures than `CompletableFuture`, Kotlin `suspend`")
    public Flux<String> future() {
        return Flux.just("a");
    }

    @Row("lambda, function")
    public Function<String, String> function() {
        return text -> text;
    }
}
