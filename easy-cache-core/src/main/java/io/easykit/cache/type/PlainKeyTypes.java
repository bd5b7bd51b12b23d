package io.easykit.cache.type;

import java.math.BigDecimal;
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
import java.time.ZonedDateTime;
import java.util.Currency;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Types of the JDK that have a text for keys: equal for equal values, different for unequal ones, and independent of
 * time zone and locale.
 *
 * @param tag the name of the type in keys
 */
record PlainKeyTypes(String tag, Function<Object, String> text) {

    private static final Map<Class<?>, PlainKeyTypes> BY_TYPE = Stream.of(
                    Character.class,
                    Float.class,
                    Double.class,
                    BigDecimal.class,
                    LocalDate.class,
                    LocalTime.class,
                    LocalDateTime.class,
                    Instant.class,
                    OffsetTime.class,
                    OffsetDateTime.class,
                    ZonedDateTime.class,
                    Year.class,
                    YearMonth.class,
                    MonthDay.class,
                    Duration.class,
                    Period.class,
                    Currency.class,
                    OptionalInt.class,
                    OptionalLong.class,
                    OptionalDouble.class)
            .collect(Collectors.toUnmodifiableMap(
                    type -> type, type -> new PlainKeyTypes(type.getSimpleName(), Object::toString)));

    private static final PlainKeyTypes ZONE = new PlainKeyTypes("ZoneId", Object::toString);
    private static final PlainKeyTypes TYPE = new PlainKeyTypes("Class", type -> ((Class<?>) type).getName());
    private static final PlainKeyTypes DATE = new PlainKeyTypes("Date", date -> textOf((Date) date));

    /** The module java.sql need not be there. */
    private static final String TIMESTAMP = "java.sql.Timestamp";

    private static final List<String> DATES = List.of("java.util.Date", "java.sql.Date", "java.sql.Time", TIMESTAMP);

    /** Null if the type is none of these. */
    static @Nullable PlainKeyTypes find(Class<?> type) {
        if (ZoneId.class.isAssignableFrom(type)) {
            return ZONE;
        }
        if (type == Class.class) {
            return TYPE;
        }
        return DATES.contains(type.getName()) ? DATE : BY_TYPE.get(type);
    }

    /** The kind of text of a declared type. Values of {@code java.util.Date} may be of its subclasses, whose kinds begin with its own. */
    String kindOf(Class<?> declared) {
        return declared.getName().startsWith("java.sql.") ? tag + "/" + declared.getSimpleName() : tag;
    }

    String textOf(Object value) {
        return text.apply(value);
    }

    /** Everything that makes a locale: its text alone is ambiguous. */
    static List<String> partsOf(Locale locale) {
        String extensions = locale.getExtensionKeys().stream()
                .sorted()
                .map(key -> key + "=" + locale.getExtension(key))
                .collect(Collectors.joining(";"));
        return List.of(locale.getLanguage(), locale.getScript(), locale.getCountry(), locale.getVariant(), extensions);
    }

    /**
     * A date or time of SQL is the same in every zone, unlike its instant. Any other date is an instant, with its milliseconds or,
     * of a timestamp, nanoseconds.
     */
    @SuppressWarnings("JavaUtilDate") // it is what callers have
    private static String textOf(Date date) {
        String type = date.getClass().getName();
        if (type.equals(TIMESTAMP)) {
            return date.toInstant().toString();
        }
        String local = type.startsWith("java.sql.") ? SqlTexts.find(date) : null;
        return local == null ? Instant.ofEpochMilli(date.getTime()).toString() : local;
    }
}
