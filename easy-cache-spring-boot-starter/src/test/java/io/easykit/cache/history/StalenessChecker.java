package io.easykit.cache.history;

import java.util.Arrays;
import java.util.List;

/**
 * Checks the promises of AP for one key: a value is not older than the {@link Bounds}, a node sees its own updates, and no
 * read returns a version that was not begun.
 *
 * <p>The bounds hold for every later read, so an old value that returns after a new one was seen breaks them too.
 */
final class StalenessChecker {

    private final KeyHistory history;
    private final Bounds bounds;
    private final Outages outages;
    private final List<Loss> losses;
    private final Findings findings = new Findings();

    /** For each version the earliest end of a read that returned it or a later one. */
    private final long[] seenAt;

    /** For each version the earliest end of an acknowledged update that wrote it or a later one. */
    private final long[] writtenAt;

    private StalenessChecker(KeyHistory history, Bounds bounds, Outages outages, List<Loss> losses) {
        this.history = history;
        this.bounds = bounds;
        this.outages = outages;
        this.losses = losses;
        this.seenAt = new long[history.latestVersion() + 2];
        this.writtenAt = new long[history.latestVersion() + 2];
    }

    static Findings check(KeyHistory history, Bounds bounds, Outages outages, List<Loss> losses) {
        return new StalenessChecker(history, bounds, outages, losses).check();
    }

    private Findings check() {
        findings.violations().addAll(history.impossibleVersions());
        collect();
        history.reads().stream().filter(read -> !read.source()).forEach(this::checkRead);
        return findings;
    }

    private void collect() {
        Arrays.fill(seenAt, Long.MAX_VALUE);
        Arrays.fill(writtenAt, Long.MAX_VALUE);
        for (Read read : history.reads()) {
            seenAt[read.version()] = Math.min(seenAt[read.version()], read.ended());
        }
        for (int version = history.latestVersion(); version > 0; version--) {
            for (Update update : history.writersOf(version)) {
                writtenAt[version] = Math.min(writtenAt[version], update.ended());
            }
            writtenAt[version] = Math.min(writtenAt[version], writtenAt[version + 1]);
            seenAt[version] = Math.min(seenAt[version], seenAt[version + 1]);
        }
    }

    private void checkRead(Read read) {
        List<Update> writers = history.writersOf(read.version());
        if (!writers.isEmpty() && writers.stream().allMatch(update -> update.began() > read.ended())) {
            add("returned before its update began", read, writers.get(0), 0);
        }
        int next = read.version() + 1;
        if (Math.min(seenAt[next], writtenAt[next]) >= read.began()) {
            return;
        }
        for (int version = next; version <= history.latestVersion(); version++) {
            for (Update missed : history.writersOf(version)) {
                if (breaks(read, missed)) {
                    return;
                }
            }
        }
    }

    /** Reports only the first broken promise of a read. */
    private boolean breaks(Read read, Update missed) {
        if (missed.isAcknowledged() && missed.node().equals(read.node()) && missed.ended() < read.began()) {
            return add("its own node had updated", read, missed, read.began() - missed.ended());
        }
        long age = missed.isAcknowledged() ? read.began() - missed.ended() : read.began() - seenAt[missed.version()];
        boolean seen = missed.isAcknowledged() || seenAt[missed.version()] < read.began();
        return seen && age > boundOf(read, missed) && add("older than the bound", read, missed, age);
    }

    private long boundOf(Read read, Update missed) {
        long longest = outages.touch(missed.began(), read.began())
                ? bounds.outage().toNanos()
                : bounds.quiet().toNanos();
        return missed.isAcknowledged() ? longest : longest + bounds.crash().toNanos();
    }

    private boolean add(String promise, Read read, Update missed, long age) {
        String what = "%s: %s: %s missed %s by %.1f ms".formatted(history.key(), promise, read, missed, age / 1e6);
        boolean admitted = losses.stream().anyMatch(loss -> loss.admits(read, missed));
        (admitted ? findings.admitted() : findings.violations()).add(what);
        return !admitted;
    }
}
