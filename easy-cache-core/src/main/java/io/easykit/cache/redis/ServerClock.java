package io.easykit.cache.redis;

import java.util.concurrent.TimeUnit;

/**
 * An upper bound of the server's clock: the last time that it returned, plus the time since the request. Ahead by a round
 * trip and two milliseconds at most, behind only by the drift of the two clocks. Serves to refresh in time, never to judge
 * validity.
 */
final class ServerClock {

    private static final long OLD_AFTER = TimeUnit.SECONDS.toNanos(60);

    /** Less than a millisecond was cut off from each of the two times that are added. */
    private static final long CUT_OFF = 2;

    private volatile Reading reading = new Reading(0, 0, false);

    void told(long serverMillis, long askedNanos) {
        reading = new Reading(serverMillis, askedNanos, true);
    }

    boolean isKnown() {
        return reading.known;
    }

    /** Whether the estimate is too old and must be read again. */
    boolean isOld() {
        Reading last = reading;
        return !last.known || System.nanoTime() - last.askedNanos > OLD_AFTER;
    }

    long millis() {
        Reading last = reading;
        return last.serverMillis + CUT_OFF + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - last.askedNanos);
    }

    private record Reading(long serverMillis, long askedNanos, boolean known) {}
}
