package io.easykit.benchmarks.chart;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/** A table of a Markdown page: its columns, and its rows of cells. */
record MarkdownTable(List<String> columns, List<List<String>> rows) {

    /**
     * Returns the first table below these headings, each of which is below the one before it.
     *
     * @param headings beginnings of headings, without their number signs
     * @throws IllegalArgumentException if the page has no such heading or table
     */
    static MarkdownTable below(List<String> page, List<String> headings) {
        int line = 0;
        for (String heading : headings) {
            line = next(
                    page,
                    line,
                    text -> text.startsWith("#")
                            && text.replaceFirst("^#+ ", "").startsWith(heading),
                    heading);
        }
        int begin = next(page, line, text -> text.startsWith("|"), "a table below " + headings);
        int end = begin;
        while (end < page.size() && page.get(end).startsWith("|")) {
            end++;
        }
        return new MarkdownTable(
                cells(page.get(begin)),
                page.subList(begin + 2, end).stream().map(MarkdownTable::cells).toList());
    }

    int column(String name) {
        int column = columns.indexOf(name);
        if (column < 0) {
            throw new IllegalArgumentException("No column '" + name + "' in " + columns);
        }
        return column;
    }

    private static int next(List<String> page, int from, Predicate<String> isIt, String what) {
        for (int line = from; line < page.size(); line++) {
            if (isIt.test(page.get(line))) {
                return line;
            }
        }
        throw new IllegalArgumentException("The page does not have " + what);
    }

    private static List<String> cells(String line) {
        String inner = line.strip().substring(1, line.strip().length() - 1);
        return Arrays.stream(inner.split("\\|", -1)).map(String::strip).toList();
    }
}
