package io.easykit.cache;

import java.time.Duration;

/**
 * When a Redis counts as ill and when as well again.
 *
 * @param window over which calls are counted
 * @param failureRate which part of them (above 0, up to 1) must have failed
 * @param minimumCalls how many there must be before the rate says anything
 * @param probeInterval how often an unavailable Redis is probed, and an available one asked for raised epochs: one
 *     second at the most
 * @param probesToRecover how many probes in a row must succeed
 */
public record AvailabilityOptions(
        Duration window, double failureRate, int minimumCalls, Duration probeInterval, int probesToRecover) {

    /** Its tenths are counted separately, each in whole milliseconds. */
    private static final Duration SHORTEST_WINDOW = Duration.ofMillis(10);

    private static final Duration LONGEST_WINDOW = Duration.ofDays(1);
    private static final Duration LONGEST_INTERVAL = Duration.ofSeconds(1);

    /**
     * @throws InvalidCacheOptionsException if a value makes no sense
     */
    public AvailabilityOptions {
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
                "is "
                        + (probeInterval.toMillisPart() == 0
                                ? probeInterval.toSeconds() + "s"
                                : probeInterval.toMillis() + "ms"),
                "Choose more than nothing and at most 1s: it bounds how late a raised epoch is seen.");
        require(probesToRecover > 0, "probes-to-recover", "is " + probesToRecover, "Choose 1 or more.");
    }

    public static AvailabilityOptions defaults() {
        return new AvailabilityOptions(Duration.ofSeconds(10), 0.5, 10, LONGEST_INTERVAL, 3);
    }

    private static void require(boolean holds, String option, String problem, String remedy) {
        if (!holds) {
            throw new InvalidCacheOptionsException(option, problem, remedy);
        }
    }
}
