package io.easykit.trial;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The messages that one process sent and received, in a file that survives its death. */
final class Ledger {

    private static final String SUFFIX = ".ledger";

    private final FileOutputStream file;

    /** The messages of all processes. */
    record Totals(Set<String> acknowledged, Map<String, Integer> delivered) {

        /** Returns messages whose send returned and that were not delivered. */
        List<String> missing() {
            return acknowledged.stream()
                    .filter(id -> !delivered.containsKey(id))
                    .toList();
        }

        long deliveries() {
            return delivered.values().stream().mapToLong(Integer::intValue).sum();
        }

        long deliveredTwice() {
            return delivered.values().stream().filter(times -> times > 1).count();
        }
    }

    Ledger(Path directory, String process) {
        try {
            this.file = new FileOutputStream(directory.resolve(process + SUFFIX).toFile(), true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Called after the send has returned. */
    void acknowledged(String id) {
        write("A" + id);
    }

    void delivered(String id) {
        write("D" + id);
    }

    private synchronized void write(String line) {
        try {
            file.write((line + "\n").getBytes(US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Totals read(Path directory) {
        Totals totals = new Totals(new HashSet<>(), new HashMap<>());
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file :
                    files.filter(one -> one.toString().endsWith(SUFFIX)).toList()) {
                String text = Files.readString(file, US_ASCII);
                text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(line -> {
                    if (line.startsWith("A")) {
                        totals.acknowledged().add(line.substring(1));
                    } else {
                        totals.delivered().merge(line.substring(1), 1, Integer::sum);
                    }
                });
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return totals;
    }
}
