package io.easykit.cache;

import java.time.Duration;

/**
 * Thresholds of the circuit breaker.
 *
 * @param window sliding window over which calls are counted
 * @param failureRate share of failed calls (above 0, up to 1) that opens the circuit breaker
 * @param minimumCalls number of calls in the window before the rate counts
 * @param probeInterval interval of the probes while Redis is unavailable, and of the reads of raised epochs while it is
 *     available; at most one second
 * @param probesToRecover number of probes in a row that must succeed before the recovery, and of checks in a row that must fail
 *     before Redis is marked unavailable
 */
public record CircuitBreakerOptions(
        Duration window, double failureRate, int minimumCalls, Duration probeInterval, int probesToRecover) {

    /** Its tenths are counted separately, each in whole milliseconds. */
    private static final Duration SHORTEST_WINDOW = Duration.ofMillis(100);

    private static final Duration LONGEST_WINDOW = Duration.ofDays(1);
    private static final Duration LONGEST_INTERVAL = Duration.ofSeconds(1);

    /**
     * @throws InvalidCacheOptionsException if a value makes no sense
     */
    public CircuitBreakerOptions {
        require(window.compareTo(SHORTEST_WINDOW) >= 0, "window", "is too short", "Choose 100ms or more.");
        require(window.compareTo(LONGEST_WINDOW) <= 0, "window", "is longer than a day", "Choose for example 10s.");
        require(
                failureRate > 0 && failureRate <= 1,
                "failure-rate",
                "is " + failureRate,
                "Choose a part of the calls, above 0 and up to 1.");
        require(minimumCalls > 0, "minimum-calls", "is " + minimumCalls, "Choose 1 or more.");
        require(
                probeInterval.compareTo(Duration.ofMillis(1)) >= 0 && probeInterval.compareTo(LONGEST_INTERVAL) <= 0,
                "probe-interval",
                "is " + CacheOptions.text(probeInterval),
                "Choose 1ms to 1s: it bounds how late a raised epoch is seen.");
        require(probesToRecover > 0, "probes-to-recover", "is " + probesToRecover, "Choose 1 or more.");
    }

    public static CircuitBreakerOptions defaults() {
        return new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 10, LONGEST_INTERVAL, 3);
    }

    private static void require(boolean holds, String option, String problem, String remedy) {
        if (!holds) {
            throw new InvalidCacheOptionsException(option, problem, remedy);
        }
    }
}
