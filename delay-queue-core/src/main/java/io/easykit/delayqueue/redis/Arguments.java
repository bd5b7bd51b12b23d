package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The arguments of a script, in the forms that the headers of the scripts name. */
final class Arguments {

    /** Scripts reject longer values as mistakes. */
    private static final Duration LONGEST = Duration.ofDays(1_000_000);

    private final List<byte[]> values = new ArrayList<>();

    Arguments add(String text) {
        values.add(RedisKeys.bytes(text));
        return this;
    }

    Arguments add(long number) {
        return add(Long.toString(number));
    }

    Arguments add(Bytes bytes) {
        values.add(bytes.array());
        return this;
    }

    Arguments add(DueTime due) {
        return add((due.relative() ? "+" : "") + due.millis());
    }

    /** Rounded up, so that a delay or a lease is never shorter than requested, except for values that scripts would refuse. */
    Arguments add(Duration duration) {
        return add(DueTime.after(duration.compareTo(LONGEST) > 0 ? LONGEST : duration)
                .millis());
    }

    Arguments add(Instant instant) {
        return add(instant.toEpochMilli());
    }

    byte[][] toArray() {
        return values.toArray(byte[][]::new);
    }
}
