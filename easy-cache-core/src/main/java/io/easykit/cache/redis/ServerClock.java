package io.easykit.cache.redis;

import java.util.concurrent.TimeUnit;

/**
 * An upper bound of the server's clock: the last time it told, plus what has passed here since we asked. Early by a
 * round trip at most, late only by the drift of the two clocks. Serves to refresh in time, never to judge validity.
 */
final class ServerClock {

    private static final long OLD_AFTER = TimeUnit.SECONDS.toNanos(60);

    private volatile Reading reading = new Reading(0, 0, false);

    void told(long serverMillis, long askedNanos) {
        reading = new Reading(serverMillis, askedNanos, true);
    }

    boolean isKnown() {
        return reading.known;
    }

    /** Whether it is time to ask again. */
    boolean isOld() {
        Reading last = reading;
        return !last.known || System.nanoTime() - last.askedNanos > OLD_AFTER;
    }

    long millis() {
        Reading last = reading;
        return last.serverMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - last.askedNanos);
    }

    private record Reading(long serverMillis, long askedNanos, boolean known) {}
}
