package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Measured;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.queue.node.Received;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/** Cells used by several tables. */
final class Cells {

    /** The columns of {@link #cost}. */
    static final List<String> COST = List.of(RedisCost.heading(), "calls", "commands", "client CPU µs");

    /** The columns of {@link #lateness}. */
    static final List<String> LATENESS = List.of("late p50 ms", "p99 ms", "worst ms", "early");

    private Cells() {}

    /** Per message. */
    static List<Object> cost(List<Measured> runs) {
        return List.of(
                Spread.of(runs, Measured::redisCpu).text(1),
                number(Spread.of(runs, Measured::calls).median()),
                number(Spread.of(runs, Measured::commands).median()),
                Spread.of(runs, Measured::clientMicros).text(1));
    }

    static List<Object> lateness(List<Received> runs) {
        return List.of(
                millis(runs, Received::p50),
                millis(runs, Received::p99),
                millis(runs, Received::worst),
                runs.stream().mapToInt(Received::early).sum());
    }

    static String millis(List<Received> runs, ToLongFunction<Received> micros) {
        return Spread.of(runs, run -> micros.applyAsLong(run) / 1e3).text(1);
    }

    static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    static String didNotFinish(Duration limit, long done, long all) {
        return String.format(Locale.ROOT, "did not finish in %d s (%,d of %,d)", limit.toSeconds(), done, all);
    }
}
