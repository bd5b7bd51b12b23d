package io.easykit.test;

import java.sql.Time;
import java.sql.Timestamp;
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
import java.util.Currency;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.function.Supplier;

/**
 * Dates and times of the JDK, as nodes in several time zones have them. Each supplier makes what is the same value in every
 * zone: the same instant, or the same local date or time.
 */
@SuppressWarnings("JavaUtilDate") // it is what applications have
public final class ValuesOfZones {

    /** Default time zones of nodes, each with a default locale. Sao Paulo had days without a midnight. */
    public static final List<String> ZONES =
            List.of("UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York", "America/Sao_Paulo");

    private static final List<String> LOCALES =
            List.of("en-US", "de-DE", "ja-JP-u-ca-japanese", "ar-EG-u-nu-arab", "tr");

    private static final Instant NOW = Instant.parse("2026-11-26T10:11:12.123456789Z");

    /** No two of them are equal. */
    public static final List<Supplier<Object>> ALL = List.of(
            () -> java.sql.Date.valueOf("2026-11-26"),
            () -> java.sql.Date.valueOf("2018-11-04"),
            () -> java.sql.Date.valueOf("0001-01-01"),
            () -> java.sql.Date.valueOf("9999-12-31"),
            () -> java.sql.Date.valueOf(LocalDate.of(12345, 6, 7)),
            () -> new java.sql.Date(NOW.toEpochMilli()),
            () -> Time.valueOf("10:11:12"),
            () -> Time.valueOf("10:11:00"),
            () -> new Time(Time.valueOf("23:59:59").getTime() + 7),
            () -> new Time(NOW.toEpochMilli() + 1),
            () -> Timestamp.from(NOW),
            () -> Timestamp.from(Instant.ofEpochSecond(-1, 5)),
            () -> new Date(NOW.toEpochMilli() + 2),
            () -> NOW,
            () -> LocalDate.of(2026, 11, 26),
            () -> LocalTime.of(10, 11, 12, 13),
            () -> LocalDateTime.of(2026, 11, 26, 10, 11, 12, 13),
            () -> NOW.atOffset(ZoneOffset.ofHours(5)),
            () -> OffsetTime.of(LocalTime.of(10, 11), ZoneOffset.ofHours(5)),
            () -> OffsetDateTime.ofInstant(NOW, ZoneOffset.UTC),
            () -> ZonedDateTime.ofInstant(NOW, ZoneId.of("Europe/Berlin")),
            () -> Year.of(2026),
            () -> YearMonth.of(2026, 11),
            () -> MonthDay.of(11, 26),
            () -> Duration.ofNanos(1),
            () -> Period.of(1, 2, 3),
            () -> ZoneId.of("Asia/Kathmandu"),
            () -> Locale.GERMANY,
            () -> Currency.getInstance("EUR"),
            () -> 1234567.5,
            () -> 'i');

    private ValuesOfZones() {}

    /** Runs the action as a node with this default time zone, and the locale that belongs to it. */
    public static <T> T in(String zone, Supplier<T> action) {
        TimeZone zoneBefore = TimeZone.getDefault();
        Locale localeBefore = Locale.getDefault();
        try {
            TimeZone.setDefault(TimeZone.getTimeZone(zone));
            Locale.setDefault(Locale.forLanguageTag(LOCALES.get(ZONES.indexOf(zone))));
            return action.get();
        } finally {
            TimeZone.setDefault(zoneBefore);
            Locale.setDefault(localeBefore);
        }
    }
}
