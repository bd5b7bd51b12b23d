package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.NearNode.Note;
import io.easykit.benchmarks.measure.ChildProgram;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.Table;
import io.easykit.cache.CacheOptions;
import io.easykit.test.RedisServer;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * How old the values are that three JVMs read while each of them updates the same ten keys at random. The age of a value that was
 * read is the time from the end of the first update after it, on any JVM, to the begin of the read. A value that no
 * finished update had replaced has no age.
 */
final class NearAges {

    private static final int NODES = 3;
    private static final long SECONDS = 20;
    private static final int THREADS_OF_NODE = 4;

    private NearAges() {}

    /** A near TTL and a stale window, in milliseconds, and whether nodes send hints. */
    private record Row(long near, long window, boolean hints) {}

    static void run(int reads) throws IOException {
        System.out.printf(
                Locale.ROOT,
                "%n%d JVMs, %,d reads of %d keys in about %d s, updates at random on each, %s%n%n",
                NODES,
                reads,
                NearNode.KEYS,
                SECONDS,
                Machine.load());
        Table.header(
                "near-ttl ms",
                "stale-window ms",
                "hints",
                "bound ms",
                "reads",
                "updates",
                "of an old value",
                "age of all, p99 ms",
                "age of old ones, p50 ms",
                "p99 ms",
                "oldest ms",
                "beyond the bound");
        for (Row row : List.of(
                new Row(1_000, 500, false),
                new Row(1_000, 500, true),
                new Row(1_000, 0, false),
                new Row(1_000, 0, true),
                new Row(0, 500, false))) {
            // Each of these reads is a command.
            measure(row, row.near == 0 ? reads / 10 : reads);
        }
    }

    private static void measure(Row row, int reads) throws IOException {
        List<ChildProgram> nodes = new ArrayList<>();
        Path folder = Files.createTempDirectory("near-ages");
        try (RedisServer redis = RedisServer.start();
                RedisServer database = RedisServer.start()) {
            for (int i = 0; i < NODES; i++) {
                nodes.add(start(row, redis.port(), database.port()));
            }
            long pause = SECONDS * 1_000_000_000L * THREADS_OF_NODE * NODES / reads;
            List<CompletableFuture<String>> replies = new ArrayList<>();
            for (int i = 0; i < NODES; i++) {
                ChildProgram node = nodes.get(i);
                String order = reads / NODES + " " + pause + " " + folder.resolve("node" + i);
                replies.add(CompletableFuture.supplyAsync(() -> node.ask(order)));
            }
            replies.forEach(CompletableFuture::join);
            nodes.forEach(ChildProgram::close);
        }
        List<Note> read = new ArrayList<>();
        List<Note> updated = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            Path file = folder.resolve("node" + i);
            add(file, read, updated);
            Files.delete(file);
        }
        Files.delete(folder);
        print(row, read, updated);
    }

    private static ChildProgram start(Row row, int cache, int database) {
        return ChildProgram.start(
                "a node",
                NearNode.READY,
                "256m",
                System.getProperty("java.class.path"),
                NearNode.class.getName(),
                List.of(
                        String.valueOf(cache),
                        String.valueOf(database),
                        String.valueOf(row.near),
                        String.valueOf(row.window),
                        String.valueOf(row.hints)));
    }

    private static void add(Path file, List<Note> reads, List<Note> updates) throws IOException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            for (List<Note> notes : List.of(reads, updates)) {
                int count = in.readInt();
                for (int i = 0; i < count; i++) {
                    notes.add(new Note(in.readInt(), in.readLong(), in.readLong()));
                }
            }
        }
    }

    private static void print(Row row, List<Note> reads, List<Note> updates) {
        CacheOptions options = NearNode.options(row.near, row.window);
        double bound = options.worstStaleness().toNanos() / 1e6;
        List<NavigableMap<Long, Long>> ends = endsByNumber(updates);
        double[] all = new double[reads.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = age(reads.get(i), ends.get(reads.get(i).key())) / 1e6;
        }
        Arrays.sort(all);
        double[] old = Arrays.stream(all).filter(age -> age > 0).toArray();
        Table.row(
                row.near,
                row.window,
                row.hints ? "on" : "off",
                String.format(Locale.ROOT, "%.0f", bound),
                all.length,
                updates.size(),
                String.format(Locale.ROOT, "%.2f %%", 100.0 * old.length / all.length),
                text(all, 0.99),
                text(old, 0.5),
                text(old, 0.99),
                text(old, 1),
                Arrays.stream(old).filter(age -> age > bound).count());
    }

    /** For each key: when the first update ended that had made this number or a later one. */
    private static List<NavigableMap<Long, Long>> endsByNumber(List<Note> updates) {
        List<NavigableMap<Long, Long>> ends = new ArrayList<>();
        for (int key = 0; key < NearNode.KEYS; key++) {
            ends.add(new TreeMap<>());
        }
        updates.forEach(note -> ends.get(note.key()).put(note.number(), note.at()));
        for (NavigableMap<Long, Long> one : ends) {
            long first = Long.MAX_VALUE;
            for (Map.Entry<Long, Long> entry : one.descendingMap().entrySet()) {
                first = Math.min(first, entry.getValue());
                entry.setValue(first);
            }
        }
        return ends;
    }

    private static long age(Note read, NavigableMap<Long, Long> ends) {
        Map.Entry<Long, Long> next = ends.higherEntry(read.number());
        return next == null ? 0 : Math.max(0, read.at() - next.getValue());
    }

    private static String text(double[] sorted, double part) {
        return sorted.length == 0
                ? "none"
                : String.format(Locale.ROOT, "%.0f", sorted[(int) Math.min(sorted.length - 1, sorted.length * part)]);
    }
}
