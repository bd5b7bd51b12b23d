package io.easykit.delayqueue.redis;

import io.easykit.redis.DedicatedConnections;
import io.easykit.redis.ErrorReply;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Repeats calls that a cluster declines while it moves a slot, within a bound.
 *
 * <p>While a slot moves key by key, its keys lie on two masters, and Redis answers {@code TRYAGAIN} to a script that names
 * several of them. With a stale topology a call may also run out of redirects ({@code MOVED}, {@code ASK}). Redis executes
 * nothing of such a call, so it is repeated with growing pauses. {@code CLUSTERDOWN} means that the slot has no owner. At the
 * end of a move this takes milliseconds; in an outage it lasts, so such a call is repeated for {@link #UNOWNED} only.
 *
 * <p>Only the queue needs this: a script of the cache names one key, which a driver finds on one of the two masters, and a cache
 * goes on without Redis where this would wait.
 */
final class SlotRetry {

    /** A call is not repeated for longer, however long its command timeout: its shard would stand still without a warning. */
    static final Duration LONGEST = Duration.ofSeconds(2);

    static final Duration UNOWNED = Duration.ofMillis(50);

    private static final Set<String> MOVING = Set.of("TRYAGAIN", "ASK", "MOVED");
    private static final String NO_OWNER = "CLUSTERDOWN";

    private static final Duration FIRST_PAUSE = Duration.ofMillis(2);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(40);

    private final Duration bound;
    private final LongSupplier nanos;

    /** @param bound time from the first attempt to the begin of the last one; zero to try once */
    SlotRetry(Duration bound) {
        this(bound, System::nanoTime);
    }

    /** @param nanos a clock that only moves forward */
    SlotRetry(Duration bound, LongSupplier nanos) {
        this.bound = bound;
        this.nanos = nanos;
    }

    /** For calls over this factory: within their command timeout, at most {@link #LONGEST}. */
    static SlotRetry over(RedisConnectionFactory connections) {
        return new SlotRetry(
                connections instanceof LettuceConnectionFactory lettuce
                        ? shorter(DedicatedConnections.commandTimeoutOf(lettuce), LONGEST)
                        : LONGEST);
    }

    Duration bound() {
        return bound;
    }

    /** To be called before the first attempt. */
    Attempts begin() {
        return new Attempts(nanos.getAsLong());
    }

    /** The attempts of one call, or of several that are made together. */
    final class Attempts {

        private final long began;
        private Duration pause = FIRST_PAUSE;

        private Attempts(long began) {
            this.began = began;
        }

        /** Whether the call failed because its slot moves, and there is time for another attempt. */
        boolean mayRepeat(Throwable failure) {
            Duration next = Duration.ofNanos(nanos.getAsLong() - began).plus(pause);
            return next.compareTo(limit(failure)) < 0;
        }

        /** Waits before the next attempt; false if the thread is interrupted, which it remains. */
        boolean pause() {
            try {
                TimeUnit.NANOSECONDS.sleep(pause.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            pause = shorter(pause.multipliedBy(2), LONGEST_PAUSE);
            return true;
        }
    }

    private Duration limit(Throwable failure) {
        ErrorReply error = ErrorReply.of(failure);
        if (error == null) {
            return Duration.ZERO;
        }
        if (MOVING.contains(error.code())) {
            return bound;
        }
        return error.is(NO_OWNER) ? shorter(UNOWNED, bound) : Duration.ZERO;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
