package io.easykit.delayqueue;

import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Limits of a topic, for all its listeners on all nodes together.
 *
 * @param rate        how many messages may begin to run in a time, retries included; null for no limit
 * @param maxInFlight how many messages may be in flight at a time, 1 to {@link #MAX_IN_FLIGHT}; null for no limit
 */
public record FlowLimits(@Nullable Rate rate, @Nullable Integer maxInFlight) {

    public static final FlowLimits NONE = new FlowLimits(null, null);

    public static final int MAX_IN_FLIGHT = 1_000_000;

    public FlowLimits {
        if (maxInFlight != null && (maxInFlight < 1 || maxInFlight > MAX_IN_FLIGHT)) {
            throw new IllegalArgumentException("maxInFlight is " + maxInFlight + ": give 1 to " + MAX_IN_FLIGHT
                    + ", or leave it out for no limit.");
        }
    }

    /** A limit of the rate alone. */
    public static FlowLimits of(Rate rate) {
        return new FlowLimits(rate, null);
    }

    /** A limit of the messages in flight alone. */
    public static FlowLimits maxInFlight(int messages) {
        return new FlowLimits(null, messages);
    }

    /**
     * Limits as settings have them.
     *
     * @param rate  such as {@code 50/s}
     * @param burst of this rate; null for the default
     * @throws IllegalArgumentException if a value is not possible, or there is a burst without a rate
     */
    public static FlowLimits of(@Nullable String rate, @Nullable Integer burst, @Nullable Integer maxInFlight) {
        Rate parsed = rate == null ? null : Rate.parse(rate);
        if (burst != null && parsed == null) {
            throw new IllegalArgumentException(
                    "burst is " + burst + ", and the topic has no rate: set a rate such as 50/s, or remove the burst.");
        }
        return new FlowLimits(burst == null || parsed == null ? parsed : parsed.withBurst(burst), maxInFlight);
    }

    public boolean isNone() {
        return rate == null && maxInFlight == null;
    }

    @Override
    public String toString() {
        String ofRate = rate == null ? "" : rate.toString();
        String ofPlaces = maxInFlight == null ? "" : maxInFlight + " in flight";
        return isNone() ? "no limits" : ofRate + (ofRate.isEmpty() || ofPlaces.isEmpty() ? "" : ", ") + ofPlaces;
    }

    /**
     * A number of messages in a time. Permits are added evenly. Unused permits are kept, up to the burst.
     *
     * @param count number of messages, 1 or more
     * @param per   the time, up to a day; at most 10,000 messages a second
     * @param burst maximum number of unused permits, 1 to {@link #MAX_BURST}: so many messages may begin at once after a quiet time
     */
    public record Rate(int count, Duration per, int burst) {

        public static final int MAX_BURST = 100_000;

        private static final Duration LEAST_STEP = Duration.ofNanos(100_000);
        private static final Duration LONGEST_PER = Duration.ofDays(1);
        private static final Duration LONGEST_TO_FILL = Duration.ofDays(365);
        private static final Duration DEFAULT_BURST = Duration.ofMillis(100);
        private static final Pattern TEXT = Pattern.compile("(\\d{1,9})\\s*/\\s*(s|m|min|h)");
        private static final Map<String, Duration> UNITS = Map.of(
                "s", Duration.ofSeconds(1),
                "m", Duration.ofMinutes(1),
                "min", Duration.ofMinutes(1),
                "h", Duration.ofHours(1));

        public Rate {
            if (count < 1 || per.isNegative() || per.isZero() || per.compareTo(LONGEST_PER) > 0) {
                throw new IllegalArgumentException("rate is " + count + " in " + DurationText.of(per)
                        + ": give 1 message or more, in a second, a minute or an hour, for example 50/s.");
            }
            if (per.dividedBy(count).compareTo(LEAST_STEP) < 0) {
                throw new IllegalArgumentException("rate is " + count + " in " + DurationText.of(per)
                        + ": give at most 10000/s, or leave it out for no limit.");
            }
            if (burst < 1 || burst > MAX_BURST) {
                throw new IllegalArgumentException("burst is " + burst + ": give 1 to " + MAX_BURST + ".");
            }
            if (per.multipliedBy(burst).dividedBy(count).compareTo(LONGEST_TO_FILL) > 0) {
                throw new IllegalArgumentException("burst is " + burst
                        + ", which takes more than a year to fill at this rate: give a smaller one, for example 1.");
            }
        }

        /** The burst is what a tenth of a second adds, and at least 1. */
        public static Rate of(int count, Duration per) {
            boolean isPossible =
                    count >= 1 && per.compareTo(Duration.ofMillis(1)) >= 0 && per.compareTo(LONGEST_PER) <= 0;
            long burst = isPossible ? count * DEFAULT_BURST.toMillis() / per.toMillis() : 1;
            return new Rate(count, per, (int) Math.max(1, Math.min(MAX_BURST, burst)));
        }

        /**
         * Reads a rate such as {@code 50/s}, {@code 600/min} or {@code 10/h}.
         *
         * @throws IllegalArgumentException if the text has another form
         */
        public static Rate parse(String text) {
            Matcher parts = TEXT.matcher(text.strip());
            Duration per = parts.matches() ? UNITS.get(parts.group(2)) : null;
            if (per == null) {
                throw new IllegalArgumentException("rate is '" + text
                        + "': give a number of messages in a second, a minute or an hour, for example 50/s, 600/min or"
                        + " 10/h.");
            }
            return of(Integer.parseInt(parts.group(1)), per);
        }

        /** The same rate with another burst. */
        public Rate withBurst(int other) {
            return new Rate(count, per, other);
        }

        @Override
        public String toString() {
            String unit = per.equals(UNITS.get("s"))
                    ? "s"
                    : per.equals(UNITS.get("min")) ? "min" : per.equals(UNITS.get("h")) ? "h" : DurationText.of(per);
            return count + "/" + unit + " with a burst of " + burst;
        }
    }
}
