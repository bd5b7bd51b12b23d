package io.easykit.benchmarks.queue;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * How much of a benchmark is run.
 *
 * @param factor of messages and times: 1 for all, less for a short trial
 * @param words  with which the titles of the contenders begin that take part; none for all
 */
record Size(double factor, List<String> words) {

    /** From the arguments of a benchmark: the factor, and the words. */
    static Size of(String... arguments) {
        List<String> all = Arrays.asList(arguments);
        return all.isEmpty()
                ? new Size(1, List.of())
                : new Size(Double.parseDouble(all.get(0)), List.copyOf(all.subList(1, all.size())));
    }

    int of(int messages) {
        return Math.max(1, (int) Math.round(messages * factor));
    }

    long ofMillis(long millis) {
        return Math.max(1, Math.round(millis * factor));
    }

    /** Those that take part. */
    List<QueueProduct> of(List<QueueProduct> products) {
        return products.stream()
                .filter(product -> words.isEmpty() || words.stream().anyMatch(product.title()::startsWith))
                .toList();
    }

    @Override
    public String toString() {
        String trial = factor == 1 ? "" : String.format(Locale.ROOT, ", a trial of size %.3f", factor);
        return trial + (words.isEmpty() ? "" : ", only of " + String.join(" and ", words));
    }
}
