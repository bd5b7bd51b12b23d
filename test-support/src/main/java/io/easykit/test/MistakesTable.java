package io.easykit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads the rows of {@code docs/mistakes.md}, so that the documentation and the tests cannot differ. */
public final class MistakesTable {

    private static final Path DOCUMENTATION = Path.of("..", "docs", "mistakes.md");

    private MistakesTable() {}

    /**
     * A mistake.
     *
     * @param what a setting as {@code name=value}, or a description of a declaration
     * @param reported text contained in the description of the failure analysis
     * @param remedy text contained in its action
     */
    public record Row(String what, String reported, String remedy) {

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

    private static Row row(String line) {
        String[] cells = line.split(" *\\| *", -1);
        return new Row(cells[1].replace("`", ""), cells[2], cells[3]);
    }
}
