package io.easykit.benchmarks;

import java.util.Collections;

/** Prints rows of Markdown. */
final class Table {

    private Table() {}

    static void header(String... columns) {
        row((Object[]) columns);
        System.out.println("| " + String.join(" | ", Collections.nCopies(columns.length, "---")) + " |");
    }

    static void row(Object... cells) {
        StringBuilder line = new StringBuilder("|");
        for (Object cell : cells) {
            line.append(' ').append(cell).append(" |");
        }
        System.out.println(line);
    }
}
