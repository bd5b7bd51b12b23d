package io.easykit.benchmarks.measure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The number of repetitions of a measurement.
 *
 * @param most maximum number
 * @param budget time after which no further repetition begins
 */
public record Repetitions(int most, Duration budget) {

    /** Repeats the measurement. An unacceptable result is the last one. */
    public <T> List<T> of(Supplier<T> measurement, Predicate<T> willDo) {
        long began = System.nanoTime();
        List<T> results = new ArrayList<>();
        do {
            results.add(measurement.get());
        } while (results.size() < most
                && willDo.test(results.get(results.size() - 1))
                && System.nanoTime() - began < budget.toNanos());
        return results;
    }
}
