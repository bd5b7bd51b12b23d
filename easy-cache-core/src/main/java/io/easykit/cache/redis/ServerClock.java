package io.easykit.cache.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An upper bound of the server's clock: the last time that it returned, plus the time since the request. Ahead by a round
 * trip and two milliseconds at most, behind only by the drift of the two clocks. Serves to refresh in time. Validity
 * is judged by it with a margin only ({@link EntryClock#isAhead}).
 */
final class ServerClock {

    private static final long OLD_AFTER = TimeUnit.SECONDS.toNanos(60);

    /** Less than a millisecond was cut off from each of the two times that are added. */
    private static final long CUT_OFF = 2;

    /** Far ahead, so that a reader that has just seen a known time takes no value for valid. */
    private static final Reading UNKNOWN = new Reading(1L << 60, 0, false);

    private volatile Reading reading = UNKNOWN;
    private boolean replaced;
    private long replacedAt;

    /**
     * The server's time in a reply.
     *
     * @param askedNanos when the command was sent, by {@link System#nanoTime}
     */
    synchronized void update(long serverMillis, long askedNanos) {
        if (!replaced || askedNanos - replacedAt >= 0) {
            reading = new Reading(serverMillis, askedNanos, true);
        }
    }

    /** Another server may reply from now on. Replies to earlier commands do not count any more. */
    synchronized void forget() {
        replaced = true;
        replacedAt = System.nanoTime();
        reading = UNKNOWN;
    }

    /** Lower bound of the time from now to a time of the server; null if the server's time is unknown. */
    @Nullable Duration until(long serverMillis) {
        Reading last = reading;
        return last.known ? Duration.ofMillis(serverMillis - now(last)) : null;
    }

    /** Whether the estimate is too old and must be read again. */
    boolean isOld() {
        Reading last = reading;
        return !last.known || System.nanoTime() - last.askedNanos > OLD_AFTER;
    }

    long millis() {
        return now(reading);
    }

    private static long now(Reading last) {
        return last.serverMillis + CUT_OFF + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - last.askedNanos);
    }

    private record Reading(long serverMillis, long askedNanos, boolean known) {}
}
