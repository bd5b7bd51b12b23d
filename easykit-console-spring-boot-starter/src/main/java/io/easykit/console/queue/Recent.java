package io.easykit.console.queue;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A reading that serves all viewers for a while. A failure is not kept. */
final class Recent<T> {

    private final Supplier<T> source;
    private final long age;
    private final LongSupplier nanos;
    private @Nullable T value;
    private long readAt;

    /**
     * @param age   for how long a reading is shown
     * @param nanos a clock that only moves forward
     */
    Recent(Supplier<T> source, Duration age, LongSupplier nanos) {
        this.source = source;
        this.age = age.toNanos();
        this.nanos = nanos;
    }

    synchronized T get() {
        T known = value;
        if (known != null && nanos.getAsLong() - readAt < age) {
            return known;
        }
        T read = source.get();
        value = read;
        readAt = nanos.getAsLong();
        return read;
    }
}
