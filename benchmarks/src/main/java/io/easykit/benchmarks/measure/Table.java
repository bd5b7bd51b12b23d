package io.easykit.benchmarks.measure;

import java.util.Collections;

/** Prints rows of Markdown. */
public final class Table {

    private Table() {}

    public static void header(String... columns) {
        row((Object[]) columns);
        System.out.println("| " + String.join(" | ", Collections.nCopies(columns.length, "---")) + " |");
    }

    public static void row(Object... cells) {
        StringBuilder line = new StringBuilder("|");
        for (Object cell : cells) {
            line.append(' ').append(cell).append(" |");
        }
        System.out.println(line);
    }
}
