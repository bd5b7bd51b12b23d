package io.easykit.cache.type;

import java.lang.invoke.MethodType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Currency;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads one part of a key as a person types it. The text of {@link KeyText} is for machines: it tells the number 42 from the
 * text 42, and a person should not have to.
 */
public final class TypedText {

    /** Declared types that do not determine how a typed part is read. */
    private static final List<Class<?>> OPEN =
            List.of(Object.class, CharSequence.class, Comparable.class, Number.class);

    /** Of the types that {@link PlainKeyTypes} lists. */
    private static final Map<Class<?>, Function<String, Object>> READERS = readers();

    private static final boolean HAS_SQL =
            ModuleLayer.boot().findModule("java.sql").isPresent();

    private TypedText() {}

    /**
     * Reads a part.
     *
     * @param declared type of the part. Of null, and of a type that leaves it open, a whole number without leading zeros,
     *     {@code true}, {@code false} and a UUID have these types, and all else is a text
     * @return a value for {@link KeyText}
     * @throws UnfitKeyException if the text is no value of the type, or values of the type cannot be typed. The message
     *     continues a sentence about the part
     */
    public static Object read(String text, @Nullable Class<?> declared) {
        if (declared == null || OPEN.contains(declared)) {
            return asItLooks(text);
        }
        Class<?> type = MethodType.methodType(declared).wrap().returnType();
        if (type == String.class) {
            return text;
        }
        if (type.isEnum()) {
            return constant(text, type);
        }
        try {
            Function<String, Object> reader = readerOf(type);
            if (reader != null) {
                return reader.apply(text.strip());
            }
        } catch (RuntimeException unreadable) {
            throw new UnfitKeyException(
                    "is not a " + type.getSimpleName() + ". Write it as Java does" + exampleOf(type) + ".");
        }
        throw new UnfitKeyException("is declared as " + declared.getTypeName()
                + ", which cannot be typed. Give the name of the key instead, as an explanation or Redis shows it.");
    }

    private static @Nullable Function<String, Object> readerOf(Class<?> type) {
        // The module java.sql need not be there.
        return switch (type.getName()) {
            case "java.sql.Date" -> text -> isLocalDate(text) ? SqlTexts.date(text) : new java.sql.Date(millis(text));
            case "java.sql.Time" -> text -> isLocalTime(text) ? time(text) : new java.sql.Time(millis(text));
            case "java.sql.Timestamp" -> text -> java.sql.Timestamp.from(Instant.parse(text));
            default -> READERS.get(type);
        };
    }

    private static String exampleOf(Class<?> type) {
        return switch (type.getName()) {
            case "java.util.Date" -> ", as in 2030-01-31T09:00:00Z, 2030-01-31 or 09:00:00";
            case "java.sql.Date" -> ", as in 2030-01-31";
            case "java.sql.Time" -> ", as in 09:00:00";
            case "java.sql.Timestamp" -> ", as in 2030-01-31T09:00:00.123456Z";
            default -> "";
        };
    }

    private static Map<Class<?>, Function<String, Object>> readers() {
        Map<Class<?>, Function<String, Object>> readers = new HashMap<>();
        readers.put(Byte.class, Byte::valueOf);
        readers.put(Short.class, Short::valueOf);
        readers.put(Integer.class, Integer::valueOf);
        readers.put(Long.class, Long::valueOf);
        readers.put(BigInteger.class, BigInteger::new);
        readers.put(Character.class, TypedText::character);
        readers.put(Float.class, text -> finite(text, Float.valueOf(text)));
        readers.put(Double.class, text -> finite(text, Double.valueOf(text)));
        readers.put(BigDecimal.class, BigDecimal::new);
        readers.put(LocalDate.class, LocalDate::parse);
        readers.put(LocalTime.class, LocalTime::parse);
        readers.put(LocalDateTime.class, LocalDateTime::parse);
        readers.put(Instant.class, Instant::parse);
        readers.put(OffsetTime.class, OffsetTime::parse);
        readers.put(OffsetDateTime.class, OffsetDateTime::parse);
        readers.put(ZonedDateTime.class, TypedText::zoned);
        readers.put(Year.class, Year::parse);
        readers.put(YearMonth.class, YearMonth::parse);
        readers.put(MonthDay.class, MonthDay::parse);
        readers.put(Duration.class, Duration::parse);
        readers.put(Period.class, Period::parse);
        readers.put(Currency.class, Currency::getInstance);
        readers.put(ZoneId.class, ZoneId::of);
        readers.put(ZoneOffset.class, ZoneOffset::of);
        readers.put(Locale.class, TypedText::locale);
        readers.put(Date.class, TypedText::date);
        readers.put(UUID.class, TypedText::uuid);
        readers.put(Boolean.class, TypedText::truth);
        return Map.copyOf(readers);
    }

    private static Object asItLooks(String text) {
        if (KeyText.isNumber(text)) {
            BigInteger number = new BigInteger(text);
            // 007 is a code: no number is written like that.
            return number.toString().equals(text) ? number : text;
        }
        if (text.equals("true") || text.equals("false")) {
            return Boolean.valueOf(text);
        }
        try {
            return uuid(text);
        } catch (IllegalArgumentException other) {
            return text;
        }
    }

    private static Object constant(String text, Class<?> type) {
        Object[] constants = type.getEnumConstants();
        return Arrays.stream(constants)
                .filter(one -> ((Enum<?>) one).name().equals(text.strip()))
                .findFirst()
                .orElseThrow(() -> new UnfitKeyException("is not a " + type.getSimpleName() + ". Use one of "
                        + Arrays.stream(constants)
                                .map(one -> ((Enum<?>) one).name())
                                .toList() + "."));
    }

    private static Object character(String text) {
        if (text.length() != 1) {
            throw new IllegalArgumentException(text);
        }
        return text.charAt(0);
    }

    /** Too large a number is not infinite. */
    private static Object finite(String text, Number number) {
        if (Double.isInfinite(number.doubleValue()) && !text.endsWith("Infinity")) {
            throw new IllegalArgumentException(text);
        }
        return number;
    }

    /** {@code Locale.forLanguageTag} ignores unreadable parts. */
    private static Object locale(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(text);
        }
        return new Locale.Builder().setLanguageTag(text).build();
    }

    /** {@code ZonedDateTime.parse} replaces an offset that the zone does not have. */
    private static Object zoned(String text) {
        ZonedDateTime time = ZonedDateTime.parse(text);
        LocalDateTime written = LocalDateTime.parse(text, DateTimeFormatter.ISO_ZONED_DATE_TIME);
        if (!time.toLocalDateTime().equals(written)) {
            throw new IllegalArgumentException(text);
        }
        return time;
    }

    /** A part of this type may also be a date, a time or a timestamp of SQL. */
    private static Object date(String text) {
        if (isLocalDate(text)) {
            return SqlTexts.date(text);
        }
        return isLocalTime(text) ? time(text) : instant(text);
    }

    /** Only a timestamp has more than milliseconds. Other dates of one instant have the same text. */
    private static Object instant(String text) {
        if (HAS_SQL) {
            return java.sql.Timestamp.from(Instant.parse(text));
        }
        return Date.from(Instant.ofEpochMilli(millis(text)));
    }

    private static boolean isLocalDate(String text) {
        return HAS_SQL && text.indexOf('T') < 0 && text.indexOf(':') < 0;
    }

    private static boolean isLocalTime(String text) {
        return HAS_SQL && text.indexOf('T') < 0 && text.indexOf(':') >= 0;
    }

    /** Reads a time, which has milliseconds. */
    private static Object time(String text) {
        LocalTime local = LocalTime.parse(text);
        if (!local.truncatedTo(ChronoUnit.MILLIS).equals(local)) {
            throw new IllegalArgumentException(text);
        }
        return SqlTexts.time(text);
    }

    /** Reads an instant of a class that has milliseconds. */
    private static long millis(String text) {
        Instant time = Instant.parse(text);
        if (!time.truncatedTo(ChronoUnit.MILLIS).equals(time)) {
            throw new IllegalArgumentException(text);
        }
        return time.toEpochMilli();
    }

    private static Object truth(String text) {
        if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException(text);
        }
        return Boolean.valueOf(text);
    }

    /** Only the whole form: {@code UUID.fromString} also takes shorter ones. */
    private static Object uuid(String text) {
        UUID uuid = UUID.fromString(text);
        if (!uuid.toString().equalsIgnoreCase(text)) {
            throw new IllegalArgumentException(text);
        }
        return uuid;
    }
}
