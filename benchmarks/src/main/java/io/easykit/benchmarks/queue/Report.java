package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.Table;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.List;

/** Prints the frame of a benchmark around its figures. */
final class Report {

    private Report() {}

    static void begin(String what, Size size) {
        try (RedisServer redis = RedisServer.start()) {
            System.out.println(
                    "\n### " + what + size + "\n\n" + Machine.describe(redis) + ", " + Machine.load() + "\n");
        }
    }

    @SafeVarargs
    static void header(List<String>... columns) {
        List<String> all = new ArrayList<>();
        for (List<String> some : columns) {
            all.addAll(some);
        }
        Table.header(all.toArray(String[]::new));
    }

    static void row(List<?>... cells) {
        List<Object> all = new ArrayList<>();
        for (List<?> some : cells) {
            all.addAll(some);
        }
        Table.row(all.toArray());
    }
}
