package io.easykit.cache.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Currency;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("JavaUtilDate") // it is what callers have
class TypedTextTests {

    private static final UUID ID = UUID.fromString("6f1c0a58-52f6-4a3e-9d6a-0c1d2e3f4a5b");

    static Stream<Arguments> partsAndTheirTexts() {
        return Stream.of(
                Arguments.of(42L, long.class, "42"),
                Arguments.of(42, Integer.class, " 42 "),
                Arguments.of((short) -7, short.class, "-7"),
                Arguments.of(new BigInteger("123456789012345678901"), BigInteger.class, "123456789012345678901"),
                Arguments.of("42", String.class, "42"),
                Arguments.of(" a:b\\c,[d] ", String.class, " a:b\\c,[d] "),
                Arguments.of("true", String.class, "true"),
                Arguments.of(ID.toString(), String.class, ID.toString()),
                Arguments.of(true, boolean.class, "true"),
                Arguments.of(ID, UUID.class, ID.toString().toUpperCase(Locale.ROOT)),
                Arguments.of('x', char.class, "x"),
                Arguments.of(DayOfWeek.MONDAY, DayOfWeek.class, "MONDAY"),
                Arguments.of(1.5, double.class, "1.5"),
                Arguments.of(new BigDecimal("1.50"), BigDecimal.class, "1.50"),
                Arguments.of(LocalDate.of(2030, 1, 31), LocalDate.class, "2030-01-31"),
                Arguments.of(YearMonth.of(2030, 1), YearMonth.class, "2030-01"),
                Arguments.of(Instant.ofEpochSecond(1), Instant.class, "1970-01-01T00:00:01Z"),
                Arguments.of(Duration.ofMinutes(5), Duration.class, "PT5M"),
                Arguments.of(ZoneId.of("Asia/Shanghai"), ZoneId.class, "Asia/Shanghai"),
                Arguments.of(ZoneOffset.ofHours(8), ZoneOffset.class, "+08:00"),
                Arguments.of(Currency.getInstance("EUR"), Currency.class, "EUR"),
                Arguments.of(Locale.GERMANY, Locale.class, "de-DE"),
                Arguments.of(new Date(1000), Date.class, "1970-01-01T00:00:01Z"),
                Arguments.of(Timestamp.from(Instant.ofEpochSecond(1)), Date.class, "1970-01-01T00:00:01Z"),
                Arguments.of(
                        Timestamp.from(Instant.ofEpochSecond(1, 500_000)), Date.class, "1970-01-01T00:00:01.0005Z"),
                Arguments.of(java.sql.Date.valueOf("2030-01-31"), Date.class, "2030-01-31"),
                Arguments.of(Time.valueOf("10:11:12"), Date.class, "10:11:12"),
                Arguments.of(new Time(Time.valueOf("10:11:12").getTime() + 7), Date.class, "10:11:12.007"),
                Arguments.of(java.sql.Date.valueOf("2030-01-31"), java.sql.Date.class, "2030-01-31"),
                Arguments.of(new java.sql.Date(1007), java.sql.Date.class, "1970-01-01T00:00:01.007Z"),
                Arguments.of(Time.valueOf("10:11:00"), Time.class, "10:11"),
                Arguments.of(new Time(Duration.ofDays(9).toMillis()), Time.class, "1970-01-10T00:00:00Z"),
                Arguments.of(
                        Timestamp.from(Instant.ofEpochSecond(1, 7)), Timestamp.class, "1970-01-01T00:00:01.000000007Z"),
                Arguments.of(42, null, "42"),
                Arguments.of(-42, Object.class, "-42"),
                Arguments.of(false, null, "false"),
                Arguments.of(ID, null, ID.toString()),
                Arguments.of("MONDAY", null, "MONDAY"),
                Arguments.of("-", null, "-"),
                Arguments.of("007", null, "007"),
                Arguments.of(7, int.class, "007"),
                Arguments.of("-0", Object.class, "-0"),
                Arguments.of(Locale.ROOT, Locale.class, "und"),
                Arguments.of(Double.NEGATIVE_INFINITY, double.class, "-Infinity"),
                Arguments.of(
                        ZonedDateTime.parse("2030-07-01T00:00+02:00[Europe/Berlin]"),
                        ZonedDateTime.class,
                        "2030-07-01T00:00:00+02:00[Europe/Berlin]"),
                Arguments.of("", null, ""),
                Arguments.of("1-1-1-1-1", null, "1-1-1-1-1"));
    }

    @ParameterizedTest
    @MethodSource("partsAndTheirTexts")
    void namesTheEntryThatThePartNames(Object part, @Nullable Class<?> declared, String typed) {
        assertThat(keyText(TypedText.read(typed, declared))).isEqualTo(keyText(part));
    }

    private static String keyText(Object part) {
        StringBuilder text = new StringBuilder();
        KeyText.append(text, "user", part);
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(classes = {long.class, UUID.class, boolean.class, char.class, LocalDate.class, double.class})
    void refusesWhatIsNoValueOfTheType(Class<?> declared) {
        assertThatThrownBy(() -> TypedText.read("1-1-1-1-1", declared))
                .isInstanceOf(UnfitKeyException.class)
                .hasMessageStartingWith("is not a ");
    }

    /** Readers of the JDK take these for other values. */
    static Stream<Arguments> textsThatLookLikeValues() {
        return Stream.of(
                Arguments.of("de_DE", Locale.class),
                Arguments.of("", Locale.class),
                Arguments.of("3000000000", int.class),
                Arguments.of("200", Byte.class),
                Arguments.of("-40000", short.class),
                Arguments.of("9223372036854775808", long.class),
                Arguments.of("1e400", double.class),
                Arguments.of("1e40", float.class),
                Arguments.of("10:11:12.0005", Date.class),
                Arguments.of("2030-02-30", Date.class),
                Arguments.of("10:11:12.0005", Time.class),
                Arguments.of("2030-01-31", Time.class),
                Arguments.of("10:11:12", java.sql.Date.class),
                Arguments.of("1970-01-01T00:00:01.0005Z", java.sql.Date.class),
                Arguments.of("2030-01-31", Timestamp.class),
                Arguments.of("2030-07-01T00:00:00+01:00[Europe/Berlin]", ZonedDateTime.class));
    }

    @ParameterizedTest
    @MethodSource("textsThatLookLikeValues")
    void refusesATextThatWouldNameAnotherEntry(String typed, Class<?> declared) {
        assertThatThrownBy(() -> TypedText.read(typed, declared))
                .isInstanceOf(UnfitKeyException.class)
                .hasMessageStartingWith("is not a ");
    }

    @Test
    void showsHowADateIsWritten() {
        assertThatThrownBy(() -> TypedText.read("31.1.2030", Date.class))
                .hasMessage(
                        "is not a Date. Write it as Java does, as in 2030-01-31T09:00:00Z, 2030-01-31 or 09:00:00.");
        assertThatThrownBy(() -> TypedText.read("31.1.2030", java.sql.Date.class))
                .hasMessage("is not a Date. Write it as Java does, as in 2030-01-31.");
        assertThatThrownBy(() -> TypedText.read("9 am", Time.class))
                .hasMessage("is not a Time. Write it as Java does, as in 09:00:00.");
        assertThatThrownBy(() -> TypedText.read("31.1.2030", Timestamp.class))
                .hasMessage("is not a Timestamp. Write it as Java does, as in 2030-01-31T09:00:00.123456Z.");
        assertThatThrownBy(() -> TypedText.read("31.1.2030", LocalDate.class))
                .hasMessage("is not a LocalDate. Write it as Java does.");
    }

    @Test
    void namesTheConstantsOfAnEnum() {
        assertThatThrownBy(() -> TypedText.read("MOON", DayOfWeek.class))
                .isInstanceOf(UnfitKeyException.class)
                .hasMessageStartingWith("is not a DayOfWeek. Use one of [MONDAY, ");
    }

    record Region(String country, String city) {}

    @ParameterizedTest
    @ValueSource(classes = {Region.class, List.class, Optional.class, OptionalInt.class, Class.class})
    void refusesTypesThatCannotBeTyped(Class<?> declared) {
        assertThatThrownBy(() -> TypedText.read("x", declared))
                .isInstanceOf(UnfitKeyException.class)
                .hasMessageContaining("Give the name of the key instead");
    }
}
