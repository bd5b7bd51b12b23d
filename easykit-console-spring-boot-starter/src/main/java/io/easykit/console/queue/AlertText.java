package io.easykit.console.queue;

import io.easykit.delayqueue.AlertLimits.Kind;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** An alert in words. */
final class AlertText {

    private static final long SECOND = 1_000;
    private static final long MINUTE = 60 * SECOND;
    private static final long HOUR = 60 * MINUTE;

    private AlertText() {}

    /**
     * Describes an alert.
     *
     * @param value milliseconds for {@code LATENESS}, else messages; null if it is not known
     * @param limit as the value; percent for {@code FAILING}
     */
    static String of(Kind kind, @Nullable Long value, @Nullable Long limit) {
        String count = value == null ? "" : number(value);
        String text =
                switch (kind) {
                    case LATENESS ->
                        value == null ? "messages run late" : "the oldest due message waits for " + duration(value);
                    case DUE -> count + " messages are due";
                    case DEAD -> count + " dead letters";
                    case WAITING -> count + " messages wait";
                    case NO_CONSUMER -> "no node listens";
                    case FAILING -> "too many runs fail";
                };
        return limit == null ? text : text + " (limit " + limit(kind, limit) + ")";
    }

    private static String limit(Kind kind, long limit) {
        return switch (kind) {
            case LATENESS -> duration(limit);
            case FAILING -> limit + " %";
            default -> number(limit);
        };
    }

    private static String number(long number) {
        return String.format(Locale.ENGLISH, "%,d", number);
    }

    private static String duration(long millis) {
        if (millis < 10 * SECOND && millis % SECOND > 0) {
            return String.format(Locale.ENGLISH, "%.1f s", millis / (double) SECOND);
        }
        if (millis < 2 * MINUTE) {
            return millis / SECOND + " s";
        }
        return millis < 2 * HOUR ? millis / MINUTE + " min" : millis / HOUR + " h";
    }
}
