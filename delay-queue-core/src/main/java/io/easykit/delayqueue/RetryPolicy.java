package io.easykit.delayqueue;

import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * How often a message is tried, and how long it waits in between.
 *
 * @param maxAttempts runs that may fail before the message is dead, at least 1
 * @param firstDelay  wait after the first failure; rounded up to milliseconds
 * @param multiplier  factor from one wait to the next, at least 1
 * @param maxDelay    the longest wait; rounded up to milliseconds
 * @param jitter      share of the wait that is random, from 0 to 1: 0.2 makes it 80 to 100 percent
 */
public record RetryPolicy(int maxAttempts, Duration firstDelay, double multiplier, Duration maxDelay, double jitter) {

    /** The longest wait that is possible. */
    public static final Duration LONGEST = Duration.ofDays(3650);

    public RetryPolicy {
        require(maxAttempts >= 1, "maxAttempts is " + maxAttempts + ": give at least 1");
        require(!firstDelay.isNegative(), "firstDelay is " + DurationText.of(firstDelay) + ": give zero or more");
        require(multiplier >= 1 && multiplier <= 1000, "multiplier is " + multiplier + ": give 1 to 1000");
        require(
                maxDelay.compareTo(firstDelay) >= 0,
                "maxDelay " + DurationText.of(maxDelay) + " is less than firstDelay " + DurationText.of(firstDelay));
        require(isPossible(maxDelay), "maxDelay is " + DurationText.of(maxDelay) + ": give at most 3650 days");
        require(jitter >= 0 && jitter <= 1, "jitter is " + jitter + ": give 0 to 1");
        firstDelay = roundUp(firstDelay);
        maxDelay = roundUp(maxDelay);
    }

    /** Waits the same time after each failure. */
    public static RetryPolicy fixed(int maxAttempts, Duration delay) {
        return new RetryPolicy(maxAttempts, delay, 1, delay, 0);
    }

    /** Doubles the wait with each failure, up to a limit, a fifth of it random. */
    public static RetryPolicy exponential(int maxAttempts, Duration firstDelay, Duration maxDelay) {
        return new RetryPolicy(maxAttempts, firstDelay, 2, maxDelay, 0.2);
    }

    /** The wait after so many failures, the latest included; empty when the message is to die. */
    public Optional<Duration> delayAfter(int failures, RandomGenerator random) {
        if (failures >= maxAttempts) {
            return Optional.empty();
        }
        double full =
                Math.min((double) maxDelay.toMillis(), firstDelay.toMillis() * Math.pow(multiplier, failures - 1));
        return Optional.of(Duration.ofMillis(Math.round(full * (1 - jitter * random.nextDouble()))));
    }

    /** The longest sum of all waits of a message that fails each time. */
    public Duration longestSum() {
        double first = firstDelay.toMillis();
        double longest = maxDelay.toMillis();
        double waits = maxAttempts - 1.0;
        if (first == 0 || multiplier == 1) {
            return Duration.ofMillis((long) (first * waits));
        }
        // So many waits grow before they reach the longest one.
        double growing = Math.min(waits, Math.ceil(Math.log(longest / first) / Math.log(multiplier)));
        double grown = first * (Math.pow(multiplier, growing) - 1) / (multiplier - 1);
        return Duration.ofMillis((long) Math.ceil(grown + (waits - growing) * longest));
    }

    private static Duration roundUp(Duration delay) {
        return Duration.ofMillis(delay.plusNanos(999_999).toMillis());
    }

    /** Whether a message can wait so long. */
    public static boolean isPossible(Duration wait) {
        return !wait.isNegative() && wait.compareTo(LONGEST) <= 0;
    }

    private static void require(boolean holds, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException("Retry policy: " + complaint + ".");
        }
    }
}
