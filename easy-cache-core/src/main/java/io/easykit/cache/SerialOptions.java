package io.easykit.cache;

import java.time.Duration;

/**
 * How calls of one key wait for their turn, if the cache is serial: reads and writes of a key run one after the other in this
 * JVM.
 *
 * @param maxWait maximum time to wait for the turn
 * @param maxQueue maximum number of calls that wait for one key; further ones fail at once
 */
public record SerialOptions(Duration maxWait, int maxQueue) {

    private static final Duration LONGEST_WAIT = Duration.ofDays(1);
    private static final SerialOptions DEFAULTS = new SerialOptions(Duration.ofSeconds(3), 1_000);

    /**
     * @throws InvalidCacheOptionsException if a value makes no sense
     */
    public SerialOptions {
        if (maxWait.isNegative() || maxWait.isZero() || maxWait.compareTo(LONGEST_WAIT) > 0) {
            throw new InvalidCacheOptionsException(
                    "serial-wait",
                    "is " + CacheOptions.text(maxWait),
                    "Choose a time above zero and of at most a day, for example 3s.");
        }
        if (maxQueue < 1) {
            throw new InvalidCacheOptionsException(
                    "serial-queue", "is " + maxQueue, "Choose 1 or more: the callers that may wait for one key.");
        }
    }

    /** A wait of 3 seconds, and 1,000 waiting calls. */
    public static SerialOptions defaults() {
        return DEFAULTS;
    }

    public SerialOptions withMaxWait(Duration value) {
        return new SerialOptions(value, maxQueue);
    }

    public SerialOptions withMaxQueue(int value) {
        return new SerialOptions(maxWait, value);
    }
}
