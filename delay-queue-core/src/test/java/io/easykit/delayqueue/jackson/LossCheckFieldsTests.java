package io.easykit.delayqueue.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.annotation.JsonNaming;
import tools.jackson.databind.annotation.JsonPOJOBuilder;

/** Which field belongs to which property, whatever their names. */
@SuppressWarnings({"unused", "FieldCanBeFinal", "IdentifierName", "MemberName"}) // what applications send
class LossCheckFieldsTests {

    private final JacksonPayloadCodec codec = new JacksonPayloadCodec();

    /** {@code isValid} ends with {@code id}. */
    static final class Paid {

        private String id = "";
        private boolean paid;

        public boolean getPaid() {
            return paid;
        }

        public void setPaid(boolean paid) {
            this.paid = paid;
        }

        @JsonIgnore
        public boolean isValid() {
            return paid && !id.isEmpty();
        }
    }

    static final class Person {

        private final String name;
        private final int age;

        public Person(String name, int age) {
            this.name = name;
            this.age = age;
        }

        public String getName() {
            return name;
        }

        @JsonIgnore
        public int getPercentage() {
            return age / 100;
        }
    }

    /** As an entity. The field {@code _note} belongs to another property. */
    static class Entity {

        private String id = "";
        private boolean isUrgent;
        private @Nullable String _note;

        protected Entity() {}

        @JsonCreator
        public Entity(@JsonProperty("id") String id, @JsonProperty("isUrgent") boolean isUrgent) {
            this.id = id;
            this.isUrgent = isUrgent;
        }

        public String getId() {
            return id;
        }

        public boolean isUrgent() {
            return isUrgent;
        }

        public @Nullable String getNote() {
            return _note;
        }

        public void setNote(@Nullable String note) {
            _note = note;
        }
    }

    static final class Data {

        private boolean isActive;
        private int mCount;
        private int amount;

        public boolean isActive() {
            return isActive;
        }

        public void setActive(boolean active) {
            isActive = active;
        }

        public int getCount() {
            return mCount;
        }

        public void setCount(int count) {
            mCount = count;
        }
    }

    /** More fields than properties that could restore them. */
    static final class Values {

        private Map<String, Object> values = new HashMap<>();
        private int amount;

        public @Nullable Object getId() {
            return values.get("id");
        }

        public void setId(Object id) {
            values.put("id", id);
        }
    }

    static final class Price {

        private final String id;
        private final int amount;

        @JsonCreator
        Price(@JsonProperty("id") String id, @JsonProperty("amount") int cents) {
            this.id = id;
            this.amount = cents;
        }

        public String getId() {
            return id;
        }
    }

    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    @JsonDeserialize(builder = SnakeBuilt.Builder.class)
    static final class SnakeBuilt {

        private final boolean isVeryUrgent;

        private SnakeBuilt(Builder builder) {
            isVeryUrgent = builder.isVeryUrgent;
        }

        public boolean isVeryUrgent() {
            return isVeryUrgent;
        }

        @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
        @JsonPOJOBuilder(withPrefix = "")
        static final class Builder {

            private boolean isVeryUrgent;

            public Builder isVeryUrgent(boolean value) {
                isVeryUrgent = value;
                return this;
            }

            public SnakeBuilt build() {
                return new SnakeBuilt(this);
            }
        }
    }

    static final class Tolerant {

        private String id = "";
        private int amount;

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        @JsonAnySetter
        public void ignore(String name, Object value) {}
    }

    static final class Fault extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private int code;

        @JsonCreator
        Fault(@JsonProperty("message") String message) {
            super(message);
        }
    }

    static List<Object> lossy() {
        return List.of(
                new Paid(),
                new Person("a", 7),
                new Entity("1", true),
                new Data(),
                new Values(),
                new Price("1", 500),
                new SnakeBuilt.Builder().isVeryUrgent(true).build(),
                new Tolerant(),
                new Fault("late"));
    }

    @ParameterizedTest
    @MethodSource("lossy")
    void refusesAFieldThatNoPropertyRestores(Object payload) {
        assertThatThrownBy(() -> codec.encode(payload)).hasMessageContaining("would lack its property");
    }

    static final class Hidden {

        private String _secret = "";

        @JsonIgnore
        public String getSecret() {
            return _secret;
        }

        public int getSize() {
            return 0;
        }
    }

    /** The parameter of the creator restores the field. */
    static final class Money {

        private final long cents;

        private Money(long cents) {
            this.cents = cents;
        }

        @JsonCreator
        static Money of(@JsonProperty("amount") BigDecimal amount) {
            return new Money(amount.movePointRight(2).longValueExact());
        }

        @JsonProperty("amount")
        BigDecimal amount() {
            return BigDecimal.valueOf(cents, 2);
        }
    }

    static final class Brief {

        private String n;

        @JsonCreator
        Brief(@JsonProperty("name") String n) {
            this.n = n;
        }

        public String getName() {
            return n;
        }
    }

    /** As {@link Data}, and a setter of another name restores the amount. */
    static class Cents {

        private boolean isActive;
        private int amount;

        public Cents() {}

        public Cents(boolean isActive, int amount) {
            this.isActive = isActive;
            this.amount = amount;
        }

        public boolean isActive() {
            return isActive;
        }

        public void setActive(boolean active) {
            isActive = active;
        }

        public int getCents() {
            return amount;
        }

        public void setCents(int cents) {
            amount = cents;
        }
    }

    static final class Collecting {

        private final String id;
        private Map<String, Object> others = new HashMap<>();

        @JsonCreator
        Collecting(@JsonProperty("id") String id) {
            this.id = id;
        }

        public String getId() {
            return id;
        }

        @JsonAnySetter
        public void add(String name, Object value) {
            others.put(name, value);
        }
    }

    static List<Object> complete() {
        return List.of(new Hidden(), Money.of(BigDecimal.ONE), new Brief("a"), new Cents(true, 5), new Collecting("1"));
    }

    @ParameterizedTest
    @MethodSource("complete")
    void takesAFieldThatAPropertyOfAnotherNameRestores(Object payload) {
        Object read = codec.decode(codec.encode(payload), payload.getClass());

        assertThat(read).usingRecursiveComparison().isEqualTo(payload);
    }

    /** Of an optional dependency. */
    public static final class Absent {}

    public static class Super {

        private final String tag = "t";

        public Super() {}

        public Super(Absent absent) {}
    }

    public static final class WithAbsent extends Super {

        public String id = "1";
    }

    /** Loads the classes of this test again, except for one. */
    private static final class Loader extends ClassLoader {

        Loader() {
            super(LossCheckFieldsTests.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals(Absent.class.getName())) {
                throw new ClassNotFoundException(name);
            }
            return name.equals(Super.class.getName()) || name.equals(WithAbsent.class.getName())
                    ? define(name)
                    : super.loadClass(name, resolve);
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] code = Objects.requireNonNull(file).readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Test
    void takesASuperclassWithAConstructorOfAClassThatIsAbsent() throws ReflectiveOperationException {
        Object payload = new Loader()
                .loadClass(WithAbsent.class.getName())
                .getConstructor()
                .newInstance();

        assertThat(new String(codec.encode(payload).array(), UTF_8)).isEqualTo("{\"id\":\"1\"}");
    }
}
