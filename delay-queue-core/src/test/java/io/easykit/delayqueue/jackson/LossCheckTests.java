package io.easykit.delayqueue.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JacksonInject;
import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonBackReference;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIgnoreType;
import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import com.fasterxml.jackson.annotation.JsonManagedReference;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.annotation.JsonNaming;
import tools.jackson.databind.annotation.JsonPOJOBuilder;

/** Which classes are refused because their JSON would lack a part of them, and which are not. */
@SuppressWarnings({"unused", "FieldCanBeFinal", "IdentifierName", "MemberName"}) // what applications send
class LossCheckTests {

    private final JacksonPayloadCodec codec = new JacksonPayloadCodec();

    /** As Lombok's {@code @Value} and Kotlin's data classes. */
    static final class Urgent {

        private final String id;
        private final boolean isUrgent;

        public Urgent(String id, boolean isUrgent) {
            this.id = id;
            this.isUrgent = isUrgent;
        }

        public String getId() {
            return id;
        }

        public boolean isUrgent() {
            return isUrgent;
        }
    }

    static class Part {

        private String id;
        private int amount;

        private Part() {
            this("", 0);
        }

        public Part(String id, int amount) {
            this.id = id;
            this.amount = amount;
        }

        public String getId() {
            return id;
        }
    }

    static final class Immutable {

        private final String id;
        private final int amount;

        public Immutable(String id, int amount) {
            this.id = id;
            this.amount = amount;
        }

        public String getId() {
            return id;
        }

        int amount() {
            return amount;
        }
    }

    static final class Capitals {

        private final String id;
        private final String aName;

        public Capitals(String id, String aName) {
            this.id = id;
            this.aName = aName;
        }

        public String getId() {
            return id;
        }

        public String getAName() {
            return aName;
        }
    }

    static final class SetterOnly {

        private String id = "";
        private int amount;

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        public void setAmount(int amount) {
            this.amount = amount;
        }
    }

    static final class HiddenList {

        private final List<String> items = new ArrayList<>();
        private int amount;

        public int getAmount() {
            return amount;
        }

        public void setAmount(int amount) {
            this.amount = amount;
        }
    }

    @JsonDeserialize(builder = Built.Builder.class)
    static final class Built {

        private final boolean isUrgent;

        private Built(boolean isUrgent) {
            this.isUrgent = isUrgent;
        }

        public boolean isUrgent() {
            return isUrgent;
        }

        @JsonPOJOBuilder(withPrefix = "")
        static final class Builder {

            private boolean isUrgent;

            public Builder isUrgent(boolean value) {
                isUrgent = value;
                return this;
            }

            public Built build() {
                return new Built(isUrgent);
            }
        }
    }

    static final class ImplicitParameter {

        private final int value;

        public ImplicitParameter(String id, int amount) {
            value = amount;
        }

        public String getId() {
            return "id" + value;
        }
    }

    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    static final class Snake {

        private final int id;
        private final boolean isVeryUrgent;

        @JsonCreator
        public Snake(int id, boolean isVeryUrgent) {
            this.id = id;
            this.isVeryUrgent = isVeryUrgent;
        }

        public int getId() {
            return id;
        }

        public boolean isVeryUrgent() {
            return isVeryUrgent;
        }
    }

    record Nested(List<Object> parts) {}

    static List<Object> lossy() {
        return List.of(
                new Urgent("1", false),
                new Part("1", 0),
                new Immutable("1", 5),
                new SetterOnly(),
                new HiddenList(),
                new Built(true),
                new ImplicitParameter("1", 5),
                new Snake(1, true),
                new Nested(List.of(new Urgent("1", true))),
                Map.of("part", new Part("1", 5)));
    }

    @ParameterizedTest
    @MethodSource("lossy")
    void refusesAClassWhoseJsonWouldLackAProperty(Object payload) {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> codec.encode(payload))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("would lack its property")
                    .hasMessageContaining("@JsonIgnore");
        }
    }

    @Test
    void namesTheClassAndTheProperty() {
        assertThatThrownBy(() -> codec.encode(new Urgent("1", true)))
                .hasMessageContaining("the JSON of " + Urgent.class.getName() + " would lack its property \"isUrgent\"")
                .hasMessageContaining("@JsonProperty(\"isUrgent\")");
        assertThatThrownBy(() -> codec.encode(new Nested(List.of(new Part("1", 5)))))
                .hasMessageContaining("parts[0]")
                .hasMessageContaining(Part.class.getName());
    }

    /** Written and read as urgent. */
    static final class Bean {

        private boolean isUrgent;
        private transient String internal = "";

        Bean() {}

        Bean(boolean isUrgent) {
            this.isUrgent = isUrgent;
        }

        public boolean isUrgent() {
            return isUrgent;
        }

        public void setUrgent(boolean urgent) {
            isUrgent = urgent;
        }
    }

    static final class Underscored {

        private final String _name;

        public Underscored(String name) {
            _name = name;
        }

        public String getName() {
            return _name;
        }
    }

    static final class Computed {

        private static final String CONSTANT = "a";

        private final int amount;
        private final int twice;
        private final Object lock = new Object();
        private transient int hash;

        public Computed(int amount) {
            this.amount = amount;
            this.twice = 2 * amount;
        }

        public int getAmount() {
            return amount;
        }

        public String getLabel() {
            return amount + " of " + twice;
        }
    }

    record OneWay(
            String id,
            @JsonProperty(access = JsonProperty.Access.WRITE_ONLY) String password,
            @JsonProperty(access = JsonProperty.Access.READ_ONLY) String label,
            @JsonIgnore String secret) {}

    static final class Ignoring {

        private String id = "";

        @JsonIgnore
        private String cached = "";

        private String secret = "";

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        @JsonIgnore
        public String getSecret() {
            return secret;
        }

        @JsonProperty
        public void setSecret(String secret) {
            this.secret = secret;
        }
    }

    static final class Unsent {

        private final String id;
        private final transient String note;

        public Unsent(String id, String note) {
            this.id = id;
            this.note = note;
        }

        public String getId() {
            return id;
        }
    }

    @JsonIgnoreProperties("amount")
    static final class ByClass extends Part {

        ByClass() {
            super("1", 5);
        }
    }

    @JsonIncludeProperties("id")
    static final class Included extends Part {

        Included() {
            super("1", 5);
        }
    }

    @JsonIgnoreType
    static final class Service {}

    static final class WithService {

        private Service service = new Service();
        private String id = "";

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }
    }

    record Open(String id, @JsonAnySetter @JsonAnyGetter Map<String, Object> more) {}

    record Outer(@JsonUnwrapped Inner inner, String last) {}

    record Inner(String first, int second) {}

    static final class Delegating {

        private final Map<String, Integer> values;

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        Delegating(Map<String, Integer> values) {
            this.values = values;
        }

        public Integer getAmount() {
            return values.getOrDefault("amount", 0);
        }
    }

    record Id(@JsonValue String text) {}

    static final class Older {

        private final String name;

        @JsonCreator
        Older(@JsonProperty("name") @Nullable String name, @JsonProperty("title") @Nullable String title) {
            this.name = name == null ? String.valueOf(title) : name;
        }

        public String getName() {
            return name;
        }

        public void setLabel(String label) {}
    }

    static final class Injected {

        private final String id;
        private final @Nullable Object service;

        @JsonCreator
        Injected(@JsonProperty("id") String id, @JacksonInject @Nullable Object service) {
            this.id = id;
            this.service = service;
        }

        public String getId() {
            return id;
        }
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME, property = "kind", visible = true)
    static final class Kind {

        private final String kind;

        @JsonCreator
        Kind(@JsonProperty("kind") String kind) {
            this.kind = kind;
        }

        public String getName() {
            return kind;
        }
    }

    static final class Parent {

        @JsonManagedReference
        public List<Child> children = new ArrayList<>();
    }

    static final class Child {

        public String name = "";

        @JsonBackReference
        private @Nullable Parent parent;
    }

    /** Cannot be read as this class: its receivers have another one. */
    static final class View {

        private final Part part;
        private int count;

        View(Part part) {
            this.part = part;
        }

        View(Part part, int count) {
            this(part);
            this.count = count;
        }

        public String getPartId() {
            return part.getId() + count;
        }
    }

    static final class Delegate {

        private final Map<String, Object> values = new LinkedHashMap<>();

        public @Nullable Object getId() {
            return values.get("id");
        }

        public void setId(Object id) {
            values.put("id", id);
        }
    }

    static final class Fault extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final int code;

        @JsonCreator
        Fault(@JsonProperty("message") String message, @JsonProperty("code") int code) {
            super(message);
            this.code = code;
        }

        public int getCode() {
            return code;
        }
    }

    static List<Object> complete() {
        return List.of(
                new Bean(true),
                new Underscored("a"),
                new Capitals("1", "a"),
                new Computed(2),
                new OneWay("1", "a", "b", "c"),
                new Ignoring(),
                new Unsent("1", "a"),
                new ByClass(),
                new Included(),
                new WithService(),
                new Open("1", Map.of("more", 1)),
                new Outer(new Inner("a", 1), "z"),
                new Delegating(Map.of("amount", 1)),
                new Id("a"),
                new Older("a", null),
                new Injected("1", null),
                new Kind("a"),
                new Parent(),
                new Child(),
                new View(new Part("1", 5)),
                new Delegate(),
                new Fault("late", 1),
                new IllegalStateException("late"));
    }

    @ParameterizedTest
    @MethodSource("complete")
    void takesAClassThatLosesNothingOrDoesSoOnPurpose(Object payload) {
        assertThatCode(() -> codec.encode(payload)).doesNotThrowAnyException();
    }

    @Test
    void readsAFieldWhoseGetterHasTwoCapitalLetters() {
        Object read = codec.decode(codec.encode(new Capitals("1", "a")), Capitals.class);

        assertThat(((Capitals) read).getAName()).isEqualTo("a");
    }

    static class Pay {

        public int amount;
    }

    static final class Card extends Pay {

        public String number = "";
    }

    static final class LabelledPay extends Pay {

        public String getLabel() {
            return "amount " + amount;
        }
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes(@JsonSubTypes.Type(value = Square.class, name = "square"))
    static class Shape {}

    static final class Square extends Shape {

        public int side;
    }

    record Order(Pay pay) {}

    record Drawing(Shape shape) {}

    record Opened(Object any, Pay pay) {}

    @Test
    void refusesAPropertyWhoseValueIsOfASubclassThatWouldBeCut() {
        Order cut = new Order(new Card());

        assertThatCode(() -> codec.encode(new Order(new Pay()))).doesNotThrowAnyException();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> codec.encode(cut))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("at pay")
                    .hasMessageContaining("a " + Card.class.getName() + " would arrive as a " + Pay.class.getName())
                    .hasMessageContaining("without its number. Declare the property as Card, or annotate Pay");
        }
    }

    @Test
    void takesSubclassesThatArriveOrLoseNothing() {
        Square square = new Square();
        square.side = 3;

        assertThatCode(() -> codec.encode(new Order(new LabelledPay()))).doesNotThrowAnyException();
        assertThatCode(() -> codec.encode(new Order(new Pay() {}))).doesNotThrowAnyException();
        assertThatCode(() -> codec.encode(new Opened(new Card(), new Pay()))).doesNotThrowAnyException();
        assertThat(((Drawing) codec.decode(codec.encode(new Drawing(square)), Drawing.class)).shape())
                .isInstanceOf(Square.class);
    }

    /** As Lombok writes accessors of a field {@code eMail}. */
    static final class Mail {

        private String eMail = "";
        private String id = "";
        private boolean issued;

        public String geteMail() {
            return eMail;
        }

        public void seteMail(String eMail) {
            this.eMail = eMail;
        }

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        /** No getter. */
        @JsonIgnore
        public boolean issued() {
            return issued;
        }

        public boolean issues() {
            return issued;
        }
    }

    @Test
    void readsAccessorsWhoseNamesBeginWithALowerCaseLetter() {
        Mail mail = new Mail();
        mail.seteMail("a@b");
        mail.setId("1");

        assertThat(new String(codec.encode(mail).array(), UTF_8)).isEqualTo("{\"eMail\":\"a@b\",\"id\":\"1\"}");
        assertThat(((Mail) codec.decode(codec.encode(mail), Mail.class)).geteMail())
                .isEqualTo("a@b");
    }

    /** As Lombok's {@code @Data @NoArgsConstructor @AllArgsConstructor}. */
    static class Active {

        private String id = "";
        private boolean isActive;

        public Active() {}

        public Active(String id, boolean isActive) {
            this.id = id;
            this.isActive = isActive;
        }

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        public boolean isActive() {
            return isActive;
        }

        public void setActive(boolean active) {
            isActive = active;
        }
    }

    static class Named {

        private String displayName = "";

        public Named() {}

        public Named(String name) {
            displayName = name;
        }

        public String getDisplayName() {
            return displayName;
        }

        public void setDisplayName(String displayName) {
            this.displayName = displayName;
        }
    }

    static final class Basket {

        private final List<String> items;
        private final Map<String, Integer> positions = new HashMap<>();

        Basket(List<String> items) {
            this.items = items;
            items.forEach(item -> positions.put(item, positions.size()));
        }

        public List<String> getItems() {
            return items;
        }
    }

    static class Stub {

        public String id = "";

        private boolean __equalsCalc;
        protected Object _persistence_fetchGroup = "";
    }

    @SuppressWarnings("unchecked")
    private <T> T received(T sent) {
        return (T) codec.decode(codec.encode(sent), sent.getClass());
    }

    @Test
    void takesABeanWhoseSettersRestoreWhatItsOtherConstructorTakes() {
        assertThat(received(new Active("1", true)).isActive()).isTrue();
        assertThat(received(new Named("a")).getDisplayName()).isEqualTo("a");
    }

    @Test
    void takesACollectionThatTheConstructorComputes() {
        assertThat(received(new Basket(List.of("a", "b"))).positions).isEqualTo(Map.of("a", 0, "b", 1));
    }

    @Test
    void takesFieldsThatGeneratorsAdd() {
        assertThat(received(new Stub()).id).isEmpty();
    }

    /** As {@link Part}, and nothing that is written could restore the amount. */
    static class PartWithDefaults {

        private String id = "";
        private int amount;

        public PartWithDefaults() {}

        public PartWithDefaults(String id, int amount) {
            this.id = id;
            this.amount = amount;
        }

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }
    }

    @Test
    void refusesABeanWithSuchAConstructorIfNothingRestoresAField() {
        assertThatThrownBy(() -> codec.encode(new PartWithDefaults("1", 5)))
                .hasMessageContaining("would lack its property \"amount\"")
                .hasMessageContaining("mix-in");
    }

    @ParameterizedTest
    @CsvSource({
        "getId, true",
        "getURL, true",
        "geteMail, true",
        "get_id, true",
        "get姓名, true",
        "getIt, true",
        "issued, false",
        "getaway, false",
        "get2nd, false"
    })
    void knowsAccessorsOfProperties(String method, boolean isOne) {
        int prefix = method.startsWith("is") ? 2 : 3;

        assertThat(JacksonPayloadCodec.isNameOfProperty(method.charAt(prefix), method, prefix))
                .isEqualTo(isOne);
    }

    static final class Shown extends Pay {

        private transient String cached = "";

        public String getDisplay() {
            return "amount " + amount + cached;
        }
    }

    @Test
    void takesASubclassWhoseOwnFieldsAreTransient() {
        assertThatCode(() -> codec.encode(new Order(new Shown()))).doesNotThrowAnyException();
    }
}
