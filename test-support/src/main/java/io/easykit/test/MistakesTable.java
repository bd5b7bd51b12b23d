package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reads the rows of {@code docs/mistakes.md}, so that the documentation and the tests cannot differ. */
public final class MistakesTable {

    private static final Path DOCUMENTATION = Path.of("..", "docs", "mistakes.md");

    private MistakesTable() {}

    /**
     * A mistake.
     *
     * @param what a setting as {@code name=value}, or a description of a declaration
     * @param reported text contained in the description of the failure analysis; an ellipsis stands for anything
     * @param remedy text contained in its action; likewise
     */
    public record Row(String what, String reported, String remedy) {

        boolean isReportedIn(String description) {
            return contains(description, reported);
        }

        boolean isMendedIn(String action) {
            return contains(action, remedy);
        }

        /** Whether one line of the text contains all parts in their order. */
        private static boolean contains(String text, String parts) {
            String pattern =
                    Arrays.stream(parts.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
            return Pattern.compile(pattern).matcher(text).find();
        }

        @Override
        public String toString() {
            return what;
        }
    }

    /** Returns the rows of the section with this heading. */
    public static List<Row> rows(String heading) {
        try {
            List<String> lines = Files.readAllLines(DOCUMENTATION);
            List<Row> rows = lines.subList(lines.indexOf("## " + heading) + 1, lines.size()).stream()
                    .takeWhile(line -> !line.startsWith("## "))
                    .filter(line -> line.startsWith("| "))
                    .skip(2)
                    .map(MistakesTable::row)
                    .toList();
            if (rows.isEmpty()) {
                throw new IllegalStateException(DOCUMENTATION + " has no rows under '" + heading + "'");
            }
            return rows;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Checks that the report of a start names all mistakes with their remedies, and no other ones. */
    public static void assertReported(@Nullable Throwable failure, List<Row> rows) {
        FailureAnalysis analysis = StartFailure.analysis(failure);
        String action = Objects.requireNonNull(analysis.getAction(), "action");
        assertThat(rows)
                .isNotEmpty()
                .allMatch(row -> row.isReportedIn(analysis.getDescription()), analysis.getDescription())
                .allMatch(row -> row.isMendedIn(action), action);
        assertThat(analysis.getDescription().lines())
                .as("no line reports an unexpected mistake")
                .allMatch(line -> rows.stream().anyMatch(row -> row.isReportedIn(line)));
        assertThat(analysis.getDescription()).doesNotContain("secret", "sec ret");
    }

    private static Row row(String line) {
        String[] cells = line.replace("`", "").split(" *\\| *", -1);
        return new Row(cells[1], cells[2], cells[3]);
    }
}
