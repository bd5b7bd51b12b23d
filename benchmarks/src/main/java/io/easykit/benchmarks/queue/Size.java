package io.easykit.benchmarks.queue;

import java.util.Locale;

/**
 * How much of a benchmark is run: 1 for all of it, less for a short trial.
 *
 * @param factor of messages and times
 */
record Size(double factor) {

    static final String USAGE = "a factor for messages and times, such as 0.05 for a short trial (1 without any)";

    static Size of(String[] arguments) {
        return new Size(arguments.length > 0 ? Double.parseDouble(arguments[0]) : 1);
    }

    int of(int messages) {
        return Math.max(1, (int) Math.round(messages * factor));
    }

    long ofMillis(long millis) {
        return Math.max(1, Math.round(millis * factor));
    }

    @Override
    public String toString() {
        return factor == 1 ? "" : String.format(Locale.ROOT, ", a trial of size %.3f", factor);
    }
}
