package io.easykit.cache.history;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The calls of all processes, as their {@link Recorder} files hold them. */
final class History {

    /** After a failed call a node may go on without Redis: three probes at most a second apart, and its recovery. */
    private static final Duration RECOVERY = Duration.ofSeconds(4);

    private final Map<String, List<Read>> reads = new HashMap<>();
    private final Map<String, List<Update>> updates = new HashMap<>();
    private final List<Outages.Span> outages = new ArrayList<>();
    private final Map<String, Integer> others = new TreeMap<>();

    private record Begun(String key, long at) {}

    /** Reads what has been written so far. An incomplete last line of a file is left out. */
    static History read(Path directory) {
        History history = new History();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                String name = String.valueOf(file.getFileName());
                if (name.endsWith(Recorder.SUFFIX)) {
                    history.add(name.substring(0, name.length() - Recorder.SUFFIX.length()), file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return history;
    }

    private void add(String node, Path file) throws IOException {
        Map<Long, Begun> begun = new HashMap<>();
        Map<Long, Integer> committing = new HashMap<>();
        String text = Files.readString(file, US_ASCII);
        String whole = text.substring(0, text.lastIndexOf('\n') + 1);
        for (String line : whole.lines().toList()) {
            String[] part = line.split(" ", 5);
            switch (part[0]) {
                case "R", "S" ->
                    of(reads, part[1])
                            .add(new Read(
                                    part[1],
                                    node,
                                    part[0].equals("S"),
                                    Long.parseLong(part[2]),
                                    Long.parseLong(part[3]),
                                    Integer.parseInt(part[4])));
                case "U" -> begun.put(Long.valueOf(part[1]), new Begun(part[2], Long.parseLong(part[3])));
                case "V" -> committing.put(Long.valueOf(part[1]), Integer.valueOf(part[2]));
                case "C" -> {
                    Long call = Long.valueOf(part[1]);
                    addUpdate(node, begun.get(call), Long.parseLong(part[2]), committing.remove(call));
                }
                case "F" ->
                    outages.add(
                            new Outages.Span(Long.parseLong(part[1]), Long.parseLong(part[2]) + RECOVERY.toNanos()));
                case "O" -> others.merge(line.substring(2).replaceFirst(" \\S+", ""), 1, Integer::sum);
                default -> throw new IllegalStateException(file + " has the line: " + line);
            }
        }
        committing.forEach((call, version) -> addUpdate(node, begun.get(call), Update.UNKNOWN, version));
    }

    private void addUpdate(String node, Begun call, long ended, int version) {
        of(updates, call.key()).add(new Update(call.key(), node, call.at(), ended, version));
    }

    private static <T> List<T> of(Map<String, List<T>> all, String key) {
        return all.computeIfAbsent(key, unseen -> new ArrayList<>());
    }

    List<KeyHistory> keys() {
        TreeSet<String> all = new TreeSet<>(reads.keySet());
        all.addAll(updates.keySet());
        return all.stream()
                .map(key ->
                        new KeyHistory(key, reads.getOrDefault(key, List.of()), updates.getOrDefault(key, List.of())))
                .toList();
    }

    Outages outages() {
        return new Outages(outages);
    }

    List<Read> reads() {
        return reads.values().stream().flatMap(List::stream).toList();
    }

    List<Update> updates() {
        return updates.values().stream().flatMap(List::stream).toList();
    }

    /** Number of calls without effect, by kind and outcome. */
    Map<String, Integer> others() {
        return others;
    }
}
