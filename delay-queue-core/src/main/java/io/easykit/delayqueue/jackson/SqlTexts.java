package io.easykit.delayqueue.jackson;

import java.sql.Date;
import java.sql.Time;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import org.jspecify.annotations.Nullable;

/**
 * The local date of a {@code java.sql.Date} and the local time of a {@code java.sql.Time}, as texts. Both classes hold an instant,
 * which differs between nodes of different time zones; the local date or time is the same on all of them.
 */
@SuppressWarnings("JavaUtilDate") // it is what payloads have
final class SqlTexts {

    private SqlTexts() {}

    /**
     * Writes a date without a time of the day as {@code 2026-11-26}, and a time of the first day of 1970 as {@code 10:11:12.123}.
     *
     * @return null if the value holds more than that, or is of another type. It is an instant then
     */
    static @Nullable String find(java.util.Date value) {
        if (value instanceof Date date) {
            return ofDate(date);
        }
        return value instanceof Time time ? ofTime(time) : null;
    }

    private static @Nullable String ofDate(Date date) {
        try {
            LocalDate local = date.toLocalDate();
            return Date.valueOf(local).getTime() == date.getTime() ? local.toString() : null;
        } catch (DateTimeException julian) {
            return null; // 1500-02-29, for example
        }
    }

    private static @Nullable String ofTime(Time time) {
        int millis = (int) Math.floorMod(time.getTime(), 1000L);
        LocalTime local = time.toLocalTime().with(ChronoField.MILLI_OF_SECOND, millis);
        return of(local).getTime() == time.getTime() ? DateTimeFormatter.ISO_LOCAL_TIME.format(local) : null;
    }

    private static Time of(LocalTime local) {
        return new Time(Time.valueOf(local).getTime() + local.get(ChronoField.MILLI_OF_SECOND));
    }

    /** @throws DateTimeException if the text has another form */
    static Date date(String text) {
        return Date.valueOf(LocalDate.parse(text));
    }

    /** @throws DateTimeException if the text has another form */
    static Time time(String text) {
        return of(LocalTime.parse(text));
    }
}
