package io.easykit.delayqueue;

import io.easykit.delayqueue.support.DurationText;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The action after a failed run. Each failed run counts as an attempt, also one with a long wait. */
public sealed interface ErrorAction {

    /** As without an error handler: dead after an exception of {@code notRetried}, else as {@link #retry()}. */
    static ErrorAction byDefault() {
        return ByDefault.INSTANCE;
    }

    /** Retries after the back-off of the retry policy of the message or its listener. Dead after the last attempt. */
    static ErrorAction retry() {
        return new Retry(null);
    }

    /** Retries after the back-off of this policy. Its limit of attempts replaces that of the message or its listener. */
    static ErrorAction retry(RetryPolicy policy) {
        return new Retry(Objects.requireNonNull(policy, "retry(null): give a policy, or call retry()."));
    }

    /**
     * Retries after this wait. Dead after the last attempt of the retry policy of the message or its listener.
     *
     * @param wait zero to {@link RetryPolicy#LONGEST}
     * @throws IllegalArgumentException for another wait
     */
    static ErrorAction retryAfter(Duration wait) {
        return new RetryAfter(wait, false);
    }

    /**
     * Retries after the time in the HTTP header {@code Retry-After}, which is a number of seconds or a date; or after the back-off of
     * the retry policy if that is longer. If there is no header, or it has another form, the action is {@link #byDefault()}.
     *
     * @param header  value of the header, or null
     * @param now     time with which a date is compared
     * @param longest maximum of the time in the header; zero to {@link RetryPolicy#LONGEST}
     */
    static ErrorAction retryAfterHeader(@Nullable String header, Instant now, Duration longest) {
        requirePossible(longest);
        Duration wait = header == null ? null : wait(header.strip(), now, longest);
        return wait == null ? byDefault() : new RetryAfter(wait.compareTo(longest) > 0 ? longest : wait, true);
    }

    /** The message is dead at once. */
    static ErrorAction dead() {
        return Dead.INSTANCE;
    }

    /**
     * The message is acknowledged in spite of the error, and nothing of it is kept. A warning names the message and the error, at
     * most a few per topic in some seconds. {@link DelayQueueEvent.Discarded} is published for each of them.
     */
    static ErrorAction discard() {
        return Discard.INSTANCE;
    }

    private static @Nullable Duration wait(String header, Instant now, Duration longest) {
        if (!header.isEmpty() && header.chars().allMatch(digit -> digit >= '0' && digit <= '9')) {
            String seconds = header.replaceFirst("^0+(?=.)", "");
            return seconds.length() > 9 ? longest : Duration.ofSeconds(Long.parseLong(seconds));
        }
        try {
            Instant date = ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT))
                    .toInstant();
            Duration wait = Duration.between(now, date);
            return wait.isNegative() ? Duration.ZERO : wait;
        } catch (DateTimeException unreadable) {
            return null;
        }
    }

    private static void requirePossible(Duration wait) {
        Objects.requireNonNull(wait, "A retry after null: give the wait, or retry() for that of the policy.");
        if (!RetryPolicy.isPossible(wait)) {
            throw new IllegalArgumentException("A retry after " + DurationText.of(wait)
                    + " is not possible: give zero to " + DurationText.of(RetryPolicy.LONGEST) + ".");
        }
    }

    /** See {@link ErrorAction#byDefault()}. */
    enum ByDefault implements ErrorAction {
        INSTANCE
    }

    /**
     * See {@link ErrorAction#retry()}.
     *
     * @param policy replaces that of the message or its listener; null to keep that one
     */
    record Retry(@Nullable RetryPolicy policy) implements ErrorAction {}

    /**
     * See {@link ErrorAction#retryAfter(Duration)}.
     *
     * @param atLeastBackOff whether the back-off of the policy counts if it is longer
     */
    record RetryAfter(Duration delay, boolean atLeastBackOff) implements ErrorAction {

        public RetryAfter {
            requirePossible(delay);
        }
    }

    /** See {@link ErrorAction#dead()}. */
    enum Dead implements ErrorAction {
        INSTANCE
    }

    /** See {@link ErrorAction#discard()}. */
    enum Discard implements ErrorAction {
        INSTANCE
    }
}
