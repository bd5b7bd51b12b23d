package io.easykit.delayqueue.engine;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Log lines of single messages, which an outage or a broken handler would repeat thousands of times. Of each kind and topic,
 * at most {@link #MOST} are logged in ten seconds. The last of these announces the limit, the first one after that time
 * contains the number of lines left out, and all of them are logged at DEBUG. If logging fails, for example for lack of memory,
 * the line is lost, and the caller goes on.
 */
final class RepeatedLines {

    static final int MOST = 10;

    private static final long WINDOW = TimeUnit.SECONDS.toNanos(10);

    private final LongSupplier nanos;
    private final Map<Kind, Window> windows = new ConcurrentHashMap<>();

    /** @param nanos a clock that only moves forward */
    RepeatedLines(LongSupplier nanos) {
        this.nanos = nanos;
    }

    private record Kind(String topic, String format) {}

    void warn(Logger log, String topic, String format, Object... arguments) {
        write(log, log::warn, topic, format, arguments);
    }

    void info(Logger log, String topic, String format, Object... arguments) {
        write(log, log::info, topic, format, arguments);
    }

    private void write(Logger log, BiConsumer<String, Object[]> line, String topic, String format, Object[] arguments) {
        try {
            String remark = remark(topic, format);
            if (remark == null) {
                log.debug(format, arguments);
            } else {
                line.accept(format + remark, arguments);
            }
        } catch (Throwable e) {
            // A line about a message must not keep it in flight.
        }
    }

    private @Nullable String remark(String topic, String format) {
        return windows.computeIfAbsent(new Kind(topic, format), kind -> new Window())
                .remark(nanos.getAsLong());
    }

    private static final class Window {

        private boolean hasBegun;
        private long began;
        private int logged;
        private long leftOut;

        /** Text to append to the line; null if the line is left out. */
        synchronized @Nullable String remark(long now) {
            String remark = "";
            if (!hasBegun || now - began >= WINDOW) {
                hasBegun = true;
                began = now;
                logged = 0;
                if (leftOut > 0) {
                    remark = " (" + leftOut + " such lines before it were left out)";
                }
                leftOut = 0;
            }
            if (logged == MOST) {
                leftOut++;
                return null;
            }
            logged++;
            return logged < MOST ? remark : remark + " (more such lines of these seconds are logged at DEBUG only)";
        }
    }
}
