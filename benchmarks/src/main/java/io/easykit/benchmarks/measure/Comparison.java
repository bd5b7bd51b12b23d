package io.easykit.benchmarks.measure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Figures of two versions, collected round by round. The versions alternate in running first, so that noise of the
 * machine affects both.
 */
public final class Comparison {

    private static final int ROUNDS = 5;
    private static final int COUNTED_ROUNDS = 2;

    private final List<Version> versions;
    private final Map<String, Map<Version, List<Double>>> figures = new LinkedHashMap<>();

    /** @param versions two versions, the older one first */
    public Comparison(List<Version> versions) {
        this.versions = List.copyOf(versions);
    }

    /** Returns the number of rounds of a comparison. Counts hardly vary, so they take fewer. */
    public static int rounds() {
        return CountedRedis.isUsed() ? COUNTED_ROUNDS : ROUNDS;
    }

    /** Prints the heading of the table that {@link #print} fills. */
    public void header() {
        List<String> columns = new ArrayList<>(List.of("figure"));
        versions.forEach(version -> columns.add(version.title()));
        columns.add("ratio of the medians");
        columns.add("ratios inside the rounds");
        Table.header(columns.toArray(String[]::new));
    }

    /** Returns the versions in the order in which they run in this round. */
    public List<Version> order(int round) {
        return round % 2 == 0 ? versions : List.of(versions.get(1), versions.get(0));
    }

    public void add(String figure, Version version, double value) {
        figures.computeIfAbsent(figure, some -> new LinkedHashMap<>())
                .computeIfAbsent(version, some -> new ArrayList<>())
                .add(value);
    }

    /** Prints the figures collected since the last call, one row for each. */
    public void print() {
        figures.forEach((figure, values) -> {
            List<Double> before = values.getOrDefault(versions.get(0), List.of());
            List<Double> now = values.getOrDefault(versions.get(1), List.of());
            List<Double> ratios = new ArrayList<>();
            for (int round = 0; round < now.size(); round++) {
                ratios.add(now.get(round) / before.get(round));
            }
            Spread old = Spread.of(before);
            Spread present = Spread.of(now);
            Table.row(
                    figure,
                    old.text(2),
                    present.text(2),
                    String.format(Locale.ROOT, "%.3f", present.median() / old.median()),
                    Spread.of(ratios).text(3));
        });
        figures.clear();
    }
}
