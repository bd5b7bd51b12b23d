package io.easykit.benchmarks.chart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Draws charts of the tables in {@code benchmarks/README.md}, so that a chart shows exactly the figures that a reader finds there.
 * Each bar is the median of a row. Rows without a figure have no bar.
 */
public final class Charts {

    private static final Pattern MEDIAN = Pattern.compile("^([\\d,]+(?:\\.\\d+)?)(?: \\(.*)?$");

    private static final List<Chart> CHARTS = List.of(
            new Chart(
                    "c1-hits",
                    "Hits a second at the Redis level, 16 threads (more is better)",
                    List.of("C1:", "16 threads"),
                    "",
                    "contender",
                    "hits/s"),
            new Chart(
                    "c2-local-cpu",
                    "CPU of a hit in the same JVM, ns (less is better)",
                    List.of("C2:"),
                    "",
                    "contender",
                    "CPU ns a hit"),
            new Chart(
                    "q3-redis-cpu",
                    "Redis CPU of a message, sent and received one by one, µs (less is better)",
                    List.of("Q3:"),
                    "",
                    "contender",
                    "Redis CPU µs"),
            new Chart(
                    "q4-drain",
                    "20,000 messages due at once, run a second (more is better)",
                    List.of("Q4:"),
                    "20,000",
                    "contender",
                    "per s"),
            new Chart(
                    "q4-redis-cpu",
                    "Redis CPU to drain 20,000 due at once, µs a message (less is better)",
                    List.of("Q4:"),
                    "20,000",
                    "contender",
                    "Redis CPU µs"),
            new Chart(
                    "q5-lateness",
                    "Lateness when idle, p99 in ms (less is better)",
                    List.of("Q5:"),
                    "",
                    "contender",
                    "p99 ms"),
            new Chart(
                    "q9-bytes",
                    "Bytes in Redis of a pending message of 140 bytes (less is better)",
                    List.of("Q9:"),
                    "",
                    "contender",
                    "bytes a message"));

    private Charts() {}

    /**
     * A chart of one column of one table.
     *
     * @param headings the way to the table
     * @param rows beginning of the first cell of the rows to draw; empty for all
     */
    private record Chart(String name, String title, List<String> headings, String rows, String labels, String values) {

        List<Bar> bars(List<String> page) {
            MarkdownTable table = MarkdownTable.below(page, headings);
            List<Bar> bars = new ArrayList<>();
            for (List<String> row : table.rows()) {
                Matcher median = MEDIAN.matcher(row.get(table.column(values)));
                if (row.get(0).startsWith(rows) && median.matches()) {
                    String text = median.group(1);
                    String label = row.get(table.column(labels));
                    boolean isOwn = label.startsWith("easy-cache") || label.startsWith("delay-queue");
                    bars.add(new Bar(label, Double.parseDouble(text.replace(",", "")), text, isOwn));
                }
            }
            if (bars.isEmpty()) {
                throw new IllegalArgumentException("No figures for " + name + " below " + headings);
            }
            return bars;
        }
    }

    /** Takes the page with the tables and the folder for the charts. */
    public static void run(String... arguments) throws IOException {
        if (arguments.length != 2) {
            throw new IllegalArgumentException(
                    "Name the page and the folder: charts benchmarks/README.md docs/benchmarks");
        }
        List<String> page = Files.readAllLines(Path.of(arguments[0]));
        Path folder = Files.createDirectories(Path.of(arguments[1]));
        for (Chart chart : CHARTS) {
            Path file = folder.resolve(chart.name() + ".svg");
            Files.writeString(file, BarChart.svg(chart.title(), chart.bars(page)));
            System.out.println(file);
        }
    }
}
