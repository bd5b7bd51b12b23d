package io.easykit.delayqueue.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonValue;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.PayloadCodec.PayloadType;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.test.ValuesOfZones;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import tools.jackson.databind.node.NullNode;

@SuppressWarnings("JavaUtilDate") // it is tested
class JacksonPayloadCodecTests {

    private final JacksonPayloadCodec codec = new JacksonPayloadCodec();

    record CloseOrder(long id, @Nullable Instant since) {}

    @SuppressWarnings("unused")
    private static void listener(Map<String, List<CloseOrder>> orders) {}

    private static Bytes json(String text) {
        return Bytes.of(text.getBytes(UTF_8));
    }

    @Test
    void readsWhatItWroteByTheTypeOfTheSignature() throws NoSuchMethodException {
        Type type = getClass().getDeclaredMethod("listener", Map.class).getGenericParameterTypes()[0];
        Object payload = Map.of("eu", List.of(new CloseOrder(7, Instant.ofEpochSecond(9))));

        assertThat(codec.decode(codec.encode(payload), type)).isEqualTo(payload);
    }

    @Test
    void toleratesPropertiesOfANewerSender() {
        assertThat(codec.decode(json("{\"id\":1,\"since\":null,\"more\":2}"), CloseOrder.class))
                .isEqualTo(new CloseOrder(1, null));
    }

    @Test
    void restoresDatesAndTimesOnNodesOfOtherZones() {
        for (Supplier<Object> value : ValuesOfZones.ALL) {
            Type type =
                    value.get() instanceof ZoneId ? ZoneId.class : value.get().getClass();
            for (String writer : ValuesOfZones.ZONES) {
                Bytes bytes = ValuesOfZones.in(writer, () -> codec.encode(value.get(), type));
                for (String reader : ValuesOfZones.ZONES) {
                    assertThat(ValuesOfZones.in(reader, () -> codec.decode(bytes, type)))
                            .as("%s from %s to %s", type, writer, reader)
                            .isEqualTo(ValuesOfZones.in(reader, value));
                }
            }
        }
    }

    @Test
    void readsTheDatesOfSqlInTheFormsOfJackson() {
        assertThat(codec.decode(json("\"2026-11-26T10:11:12.123+00:00\""), Timestamp.class))
                .isEqualTo(Timestamp.from(Instant.parse("2026-11-26T10:11:12.123Z")));
        assertThat(codec.decode(json("\"2026-11-26T10:11:12.123Z\""), java.sql.Date.class))
                .isEqualTo(new java.sql.Date(
                        Instant.parse("2026-11-26T10:11:12.123Z").toEpochMilli()));
        assertThatThrownBy(() -> codec.decode(json("\"late\""), java.sql.Time.class))
                .isInstanceOf(UndecodableMessageException.class);
    }

    record Delivery(java.util.Date ready, List<java.util.Date> days, java.sql.Date day) {}

    record Formatted(
            @JsonFormat(pattern = "dd.MM.yyyy HH:mm", timezone = "UTC") Timestamp at,
            @JsonFormat(pattern = "dd.MM.yyyy", timezone = "UTC") java.sql.Date day) {}

    @Test
    void keepsTheInstantOfADateThatIsDeclaredAsOne() {
        for (String zone : ValuesOfZones.ZONES) {
            ValuesOfZones.in(zone, () -> {
                java.sql.Date local = java.sql.Date.valueOf("2026-11-26");
                Bytes json = codec.encode(new Delivery(local, List.of(local), local));
                Delivery read = (Delivery) codec.decode(json, Delivery.class);
                assertThat(read.ready().getTime()).isEqualTo(local.getTime());
                assertThat(read.days().get(0).getTime()).isEqualTo(local.getTime());
                return assertThat(codec.decode(codec.encode(local), LocalDate.class))
                        .isEqualTo(LocalDate.of(2026, 11, 26));
            });
        }
        Formatted formatted = new Formatted(new Timestamp(60_000), new java.sql.Date(0));
        assertThat(new String(codec.encode(formatted).array(), UTF_8)).contains("01.01.1970 00:01", "\"01.01.1970\"");
        assertThat(codec.decode(codec.encode(formatted), Formatted.class)).isEqualTo(formatted);
    }

    @Test
    void namesNoClassesInThePayload() {
        assertThat(new String(codec.encode(new CloseOrder(1, Instant.EPOCH)).array(), UTF_8))
                .doesNotContain("CloseOrder");
    }

    @Test
    void refusesWhatIsNoSuchPayload() {
        assertThatThrownBy(() -> codec.decode(json("[1]"), CloseOrder.class))
                .isInstanceOf(UndecodableMessageException.class)
                .hasMessageContaining("CloseOrder");
        assertThatThrownBy(() -> codec.decode(json("null"), CloseOrder.class))
                .isInstanceOf(UndecodableMessageException.class)
                .hasMessageContaining("null");
    }

    @Test
    void refusesToSendWhatCannotBeWritten() {
        List<Object> endless = new ArrayList<>();
        endless.add(endless);
        endless.add(endless);

        assertThatThrownBy(() -> codec.encode(endless))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot be written as JSON");
    }

    private static final String SECRET = "4711-secret";

    enum Color {
        RED,
        @JsonEnumDefaultValue
        OTHER
    }

    enum Strict {
        ONE
    }

    record Grown(long id, int count, boolean flag, double rate, char letter, @Nullable Color color) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Cat.class, name = "cat"),
        @JsonSubTypes.Type(value = Dog.class, name = "dog")
    })
    interface Animal {}

    record Cat(int lives) implements Animal {}

    record Dog(String name) implements Animal {}

    record Careful(String text) {
        Careful {
            if (text.contains("secret")) {
                throw new IllegalArgumentException("not this: " + text);
            }
        }
    }

    record Holder(
            @Nullable Integer number,
            @Nullable Strict strict,
            @Nullable Map<String, Integer> map,
            @Nullable Map<Integer, String> byNumber,
            @Nullable List<Integer> list,
            @Nullable Instant at,
            @Nullable Careful careful,
            @Nullable Animal animal,
            @Nullable UUID uuid) {}

    record Unwritable(String value) {
        @Override
        public String value() {
            throw new IllegalStateException(SECRET);
        }
    }

    record Nothing(String value) {
        @JsonValue
        @Nullable String json() {
            return null;
        }
    }

    @Test
    void readsWhatAnOlderSenderCouldNotKnow() {
        assertThat(codec.decode(json("{\"id\":1}"), Grown.class)).isEqualTo(new Grown(1, 0, false, 0, (char) 0, null));
        assertThat(codec.decode(json("{\"id\":1,\"count\":null,\"flag\":null}"), Grown.class))
                .isEqualTo(new Grown(1, 0, false, 0, (char) 0, null));
        assertThat(codec.decode(json("{\"id\":1,\"color\":\"VIOLET\"}"), Grown.class))
                .isEqualTo(new Grown(1, 0, false, 0, (char) 0, Color.OTHER));
    }

    enum Speaking {
        ON_TIME,
        LATE;

        @Override
        public String toString() {
            return "any text";
        }
    }

    static final class Basket {

        private final List<String> items = new ArrayList<>();

        public List<String> getItems() {
            return items;
        }
    }

    static final class FinalField {

        private final String text;

        FinalField() {
            this("");
        }

        FinalField(String text) {
            this.text = text;
        }

        public String getText() {
            return text;
        }
    }

    static final class Hidden {

        @SuppressWarnings("unused")
        private final long id = 7;
    }

    record Tick() {}

    @Test
    void changesNothingOnTheWay() {
        List<Object> payloads = List.of(
                ZonedDateTime.parse("2024-03-31T01:30:00+01:00[Europe/Berlin]"),
                OffsetDateTime.parse("2024-03-31T01:30:00+05:00"),
                Speaking.LATE,
                new Tick(),
                new BigDecimal("1.10"));

        for (Object payload : payloads) {
            assertThat(codec.decode(codec.encode(payload), payload.getClass())).isEqualTo(payload);
        }
    }

    record Anything(Object value) {}

    @Test
    void keepsTheDigitsOfNumbersWhoseTypeIsNotDeclared() {
        BigDecimal precise = new BigDecimal("12345678901234567.1234567890");

        assertThat(codec.decode(codec.encode(Map.of("sum", precise)), Map.class))
                .isEqualTo(Map.of("sum", precise));
        assertThat(codec.decode(codec.encode(new Anything(precise)), Anything.class))
                .isEqualTo(new Anything(precise));
    }

    /** As the documentation says. */
    @Test
    void readsOtherTypesWhereNoneIsDeclared() {
        Map<String, Object> sent = Map.of("id", 7L, "share", 0.5, "day", LocalDate.of(2024, 3, 31));

        assertThat(codec.decode(codec.encode(sent), Map.class))
                .isEqualTo(Map.of("id", 7, "share", new BigDecimal("0.5"), "day", "2024-03-31"));
    }

    @Test
    void fillsCollectionsAndFinalFieldsThatHaveAGetterOnly() {
        Basket basket = new Basket();
        basket.getItems().add("apple");

        assertThat(((Basket) codec.decode(codec.encode(basket), Basket.class)).getItems())
                .containsExactly("apple");
        assertThat(((FinalField) codec.decode(codec.encode(new FinalField("a")), FinalField.class)).getText())
                .isEqualTo("a");
    }

    @Test
    void refusesToSendAnObjectOfWhichJsonShowsNothing() {
        assertThatThrownBy(() -> codec.encode(new Hidden()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Hidden");
    }

    @Test
    void readsConstantsByNameWhateverTheirTextIsInOtherVersions() {
        assertThat(new String(codec.encode(Speaking.LATE).array(), UTF_8)).isEqualTo("\"LATE\"");
    }

    @Test
    void doesNotCutTheFractionOfANewerSender() {
        assertThatThrownBy(() -> codec.decode(json("{\"id\":5.7}"), CloseOrder.class))
                .isInstanceOf(UndecodableMessageException.class);
    }

    @Test
    void toleratesUnknownConstantsInCollectionsAndKeys() {
        assertThat(codec.decode(json("{\"list\":[\"NEW\"],\"set\":[\"NEW\"],\"map\":{\"NEW\":1}}"), Colors.class))
                .isEqualTo(new Colors(List.of(Color.OTHER), EnumSet.of(Color.OTHER), Map.of(Color.OTHER, 1)));
    }

    record Colors(List<Color> list, EnumSet<Color> set, Map<Color, Integer> map) {}

    @Test
    void canBeGivenOtherFeatures() {
        JacksonPayloadCodec strict = new JacksonPayloadCodec(JacksonPayloadCodec.defaults()
                .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .enable(EnumFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
                .build());

        assertThatThrownBy(() -> strict.decode(json("{\"id\":1}"), Grown.class))
                .isInstanceOf(UndecodableMessageException.class);
        assertThatThrownBy(() -> strict.decode(json("\"TWO\""), Strict.class)).hasMessageContaining("null");
    }

    /** Lists, maps and generic classes arrive as they were sent if their type is given. */
    @Test
    void keepsPolymorphicElementsOfAGenericPayloadThatIsSentWithItsType() {
        List<Animal> animals = List.of(new Cat(9), new Dog("Rex"));

        assertArrivesAsSent(animals, new PayloadType<List<Animal>>() {});
        assertArrivesAsSent(
                Map.of("first", new Cat(9), "second", new Dog("Rex")), new PayloadType<Map<String, Animal>>() {});
        assertArrivesAsSent(Map.of("all", animals), new PayloadType<Map<String, List<Animal>>>() {});
        assertArrivesAsSent(new Box<>(new Dog("Rex")), new PayloadType<Box<Animal>>() {});
        assertArrivesAsSent(List.of(1L, 2L), new PayloadType<List<Long>>() {});
    }

    private <T> void assertArrivesAsSent(T payload, PayloadType<T> type) {
        OutgoingMessage message = OutgoingMessage.of("zoo", payload, type);

        assertThat(codec.decode(codec.encode(message.payload(), message.payloadType()), type.type()))
                .isEqualTo(payload);
    }

    record Box<T>(T content) {}

    @Test
    void refusesAPayloadWhoseElementsWouldLoseTheirTypeIds() {
        List<Animal> animals = List.of(new Cat(9), new Dog("Rex"));

        for (Object payload : List.of(
                animals,
                Set.of(new Cat(9)),
                Map.of("first", new Cat(9)),
                Map.of("cats", List.of(new Cat(9))),
                List.of(List.of(new Cat(9))),
                Optional.of(new Cat(9)),
                List.of(Optional.of(Map.of("first", new Cat(9)))),
                new Object[] {new Cat(9)})) {
            assertThatThrownBy(() -> codec.encode(payload))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Cat")
                    .hasMessageContaining("send it with its payloadType");
        }
        assertThat(codec.decode(
                        codec.encode(List.of(new Cat(9)), new PayloadType<List<Object>>() {}.type()), List.class))
                .isEqualTo(List.of(Map.of("lives", 9)));
    }

    @Test
    void takesElementsWhoseTypeIdsAreWrittenAnyway() {
        Type vehicles = new PayloadType<List<Vehicle>>() {}.type();
        JacksonPayloadCodec typed = new JacksonPayloadCodec(JacksonPayloadCodec.defaults()
                .activateDefaultTyping(
                        BasicPolymorphicTypeValidator.builder()
                                .allowIfBaseType(Object.class)
                                .build(),
                        DefaultTyping.NON_FINAL)
                .build());

        assertThat(codec.decode(codec.encode(List.of(new Bike("bike"))), vehicles))
                .isEqualTo(List.of(new Bike("bike")));
        assertThatCode(() -> typed.encode(new ArrayList<>(List.of(new Cat(9))))).doesNotThrowAnyException();
        assertThatCode(() -> codec.encode(Arrays.asList("text", null, 1))).doesNotThrowAnyException();
        assertThat(codec.decode(codec.encode(new Cat[] {new Cat(9)}), Animal[].class))
                .isEqualTo(new Animal[] {new Cat(9)});
        assertThat(codec.decode(codec.encode(List.of(new Zoo(new Cat(9)))), new PayloadType<List<Zoo>>() {}.type()))
                .isEqualTo(List.of(new Zoo(new Cat(9))));
    }

    /** Its elements have a declared type. */
    static final class Zoo extends ArrayList<Animal> {

        private static final long serialVersionUID = 1;

        Zoo() {}

        Zoo(Animal animal) {
            add(animal);
        }
    }

    @JsonTypeInfo(
            use = JsonTypeInfo.Id.NAME,
            include = JsonTypeInfo.As.EXISTING_PROPERTY,
            property = "kind",
            visible = true)
    @JsonSubTypes(@JsonSubTypes.Type(value = Bike.class, name = "bike"))
    interface Vehicle {}

    record Bike(String kind) implements Vehicle {}

    @Test
    void aPayloadTypeNeedsAType() {
        assertThat(new PayloadType<List<String>>() {}).hasToString("java.util.List<java.lang.String>");
        assertThatThrownBy(Untyped::new)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("write it down");
    }

    @SuppressWarnings("rawtypes")
    private static final class Untyped extends PayloadType {}

    @SuppressWarnings("unchecked")
    @Test
    void keepsTheOrderOfASet() {
        Set<String> steps = new LinkedHashSet<>(List.of("zebra", "apple", "mango", "kiwi"));
        Type type = new PayloadType<Set<String>>() {}.type();

        assertThat((Set<String>) codec.decode(codec.encode(steps), type)).containsExactlyElementsOf(steps);
        assertThat(((Steps) codec.decode(codec.encode(new Steps(steps)), Steps.class)).names())
                .containsExactlyElementsOf(steps);
    }

    record Steps(Set<String> names) {}

    /** The limit of the message decides. */
    @Test
    void readsNumbersTextsAndNamesOfAnyLength() {
        BigDecimal number = new BigDecimal(BigInteger.TEN.pow(2_000));
        Map<String, Integer> names = Map.of("k".repeat(60_000), 1);

        assertThat(codec.decode(codec.encode(number), BigDecimal.class)).isEqualTo(number);
        assertThat(codec.decode(codec.encode(names), new PayloadType<Map<String, Integer>>() {}.type()))
                .isEqualTo(names);
        assertThat(JacksonPayloadCodec.defaults()
                        .build()
                        .tokenStreamFactory()
                        .streamReadConstraints()
                        .getMaxStringLength())
                .isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void restoresKeysThatAreDatesOfSql() {
        for (String zone : ValuesOfZones.ZONES) {
            ValuesOfZones.in(zone, () -> {
                assertArrivesAsSent(
                        Map.of(java.sql.Date.valueOf("2026-01-02"), 1),
                        new PayloadType<Map<java.sql.Date, Integer>>() {});
                assertArrivesAsSent(Map.of(new java.sql.Date(1), 1), new PayloadType<Map<java.sql.Date, Integer>>() {});
                assertArrivesAsSent(
                        Map.of(java.sql.Time.valueOf("10:11:12"), 1),
                        new PayloadType<Map<java.sql.Time, Integer>>() {});
                Timestamp precise = Timestamp.from(Instant.parse("2026-01-02T10:11:12.123456789Z"));
                assertArrivesAsSent(Map.of(precise, 1), new PayloadType<Map<Timestamp, Integer>>() {});
                return zone;
            });
        }
        assertThat(new String(
                        codec.encode(Map.of(java.sql.Date.valueOf("2026-01-02"), 1))
                                .array(),
                        UTF_8))
                .isEqualTo("{\"2026-01-02\":1}");
        assertThatThrownBy(() -> codec.decode(
                        json("{\"4711-secret\":1}"), new PayloadType<Map<java.sql.Date, Integer>>() {}.type()))
                .isInstanceOf(UndecodableMessageException.class)
                .hasMessageNotContaining("4711");
    }

    /** Each of these makes Jackson, or code that it calls, quote the value, a key, or the source. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"number\":\"4711-secret\"}",
                "{\"number\":{\"4711-secret\":1}}",
                "{\"strict\":\"4711-secret\"}",
                "{\"map\":{\"4711-secret\":\"4711-secret\"}}",
                "{\"byNumber\":{\"4711-secret\":\"x\"}}",
                "{\"list\":[1,\"4711-secret\"]}",
                "{\"at\":\"4711-secret\"}",
                "{\"careful\":{\"text\":\"4711-secret\"}}",
                "{\"careful\":\"4711-secret\"}",
                "{\"animal\":{\"@type\":\"4711-secret\"}}",
                "{\"animal\":{\"4711-secret\":1}}",
                "{\"uuid\":\"4711-secret\"}",
                "{\"number\":4711-secret}",
                "{\"4711-secret\" 1}",
                "4711-secret",
                "[\"4711-secret\"]",
                "\"4711-secret\"",
                "{\"number\":1} 4711-secret",
                "{\"list\":[4711-secret",
                "{\"number\":47114711471147114711471147114711}"
            })
    void neverQuotesThePayloadThatItCannotRead(String text) {
        for (Type type : List.of(Holder.class, Careful.class, Strict.class, Thread.class)) {
            try {
                codec.decode(json(text), type);
            } catch (UndecodableMessageException e) {
                assertThat(everythingIn(e))
                        .doesNotContain("secret")
                        .doesNotContain("4711")
                        .contains("bytes");
            }
        }
    }

    @Test
    void namesBatchSizeIfTheListOfAMethodIsGivenASingleMessage() {
        Type type = new PayloadType<List<CloseOrder>>() {}.type();

        assertThatThrownBy(() -> codec.decode(json(" {\"id\":1}"), type))
                .isInstanceOf(UndecodableMessageException.class)
                .hasMessageContaining("It is no array. A method that takes several messages in a list needs batchSize");
        assertThatThrownBy(() -> codec.decode(json("[{\"id\":\"x\"}]"), type))
                .isInstanceOf(UndecodableMessageException.class)
                .hasMessageNotContaining("batchSize");
    }

    @Test
    void saysWhereItCouldNotRead() {
        assertThatThrownBy(() -> codec.decode(json("{\"list\":[1,\"x\"]}"), Holder.class))
                .hasMessageContaining("InvalidFormatException at list[1]")
                .hasMessageContaining("Holder");
        assertThatThrownBy(() -> codec.decode(json("{\"careful\":{\"text\":\"secret\"}}"), Holder.class))
                .hasMessageContaining("java.lang.IllegalArgumentException at")
                .hasMessageContaining("JacksonPayloadCodecTests$Careful.<init>");
    }

    @Test
    void neverQuotesThePayloadThatItCannotWrite() {
        Object unwritable = new Unwritable("x");

        assertThatThrownBy(() -> codec.encode(Map.of(SECRET, unwritable)))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e ->
                        assertThat(everythingIn(e)).doesNotContain("secret").contains("IllegalStateException"));
    }

    @Test
    void refusesToSendWhatBecomesNull() {
        for (Object payload : List.of(new Nothing("x"), Optional.empty(), NullNode.getInstance())) {
            assertThatThrownBy(() -> codec.encode(payload))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("becomes null");
        }
    }

    private static String everythingIn(Throwable e) {
        StringWriter text = new StringWriter();
        e.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
