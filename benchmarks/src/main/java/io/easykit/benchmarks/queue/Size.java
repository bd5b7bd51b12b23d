package io.easykit.benchmarks.queue;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The part of a benchmark to run.
 *
 * @param factor factor of messages and times: 1 for the full size, less for a short trial
 * @param words prefixes of the titles of the contenders to run; none for all
 */
record Size(double factor, List<String> words) {

    /** Parses the arguments of a benchmark: the factor, and the words. */
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

    /** Returns the selected products. */
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
