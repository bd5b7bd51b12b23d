package io.easykit.cache.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The calls of one key, by version.
 *
 * <p>Two updates may claim the same version: one that was rolled back because its process died, and the next one. At most
 * one of them is acknowledged.
 */
final class KeyHistory {

    private final String key;
    private final List<Read> reads = new ArrayList<>();
    private final List<List<Update>> updates = new ArrayList<>();

    KeyHistory(String key, List<Read> reads, List<Update> updates) {
        this.key = key;
        this.reads.addAll(reads);
        this.reads.sort(Comparator.comparingLong(Read::began));
        int latest = reads.stream().mapToInt(Read::version).max().orElse(0);
        for (Update update : updates) {
            latest = Math.max(latest, update.version());
        }
        for (int version = 0; version <= latest; version++) {
            this.updates.add(new ArrayList<>(1));
        }
        updates.forEach(update -> this.updates.get(update.version()).add(update));
    }

    String key() {
        return key;
    }

    /** In the order in which they began. */
    List<Read> reads() {
        return reads;
    }

    int latestVersion() {
        return updates.size() - 1;
    }

    /** The updates that may have written this version: the acknowledged ones if there are any. */
    List<Update> writersOf(int version) {
        List<Update> all = updates.get(version);
        List<Update> acknowledged = all.stream().filter(Update::isAcknowledged).toList();
        return acknowledged.isEmpty() ? all : acknowledged;
    }

    /** Versions that nobody wrote but somebody read, and versions that were written twice. */
    List<String> impossibleVersions() {
        List<String> found = new ArrayList<>();
        for (int version = 1; version < updates.size(); version++) {
            List<Update> writers = writersOf(version);
            if (writers.stream().filter(Update::isAcknowledged).count() > 1) {
                found.add("%s: version %d was written twice: %s".formatted(key, version, writers));
            }
            int wanted = version;
            if (writers.isEmpty()) {
                reads.stream()
                        .filter(read -> read.version() == wanted)
                        .findFirst()
                        .ifPresent(read -> found.add("%s: nobody wrote the version of %s".formatted(key, read)));
            }
        }
        return found;
    }
}
