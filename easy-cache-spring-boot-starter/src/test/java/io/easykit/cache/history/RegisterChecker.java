package io.easykit.cache.history;

import java.util.List;

/**
 * Decides whether the history of a key is linearizable (Herlihy and Wing, <i>Linearizability: a correctness condition for
 * concurrent objects</i>, 1990).
 *
 * <p>In general that is NP-complete. With unique values, and the order of the writes known from the database, it takes
 * linear time (Gibbons and Korach, <i>Testing shared memories</i>, 1997). Let {@code c(v)} be the time of the commit of
 * version {@code v}. A history is linearizable if and only if these times can be chosen so that:
 *
 * <ul>
 *   <li>they are in the order of the versions;
 *   <li>each lies between begin and end of its update; an update of unknown outcome has no end;
 *   <li>for each read of version {@code v}, {@code c(v)} is before its end, and {@code c(v + 1)} after its begin.
 * </ul>
 *
 * <p>So each version has an earliest and a latest time, and such times exist if no version's earliest time is after the
 * latest time of the same or a later version. The checker reports each call whose begin breaks this rule. Such a call read an
 * old version, a version that was not yet begun, or an older version than a read before it. Reads of the database itself
 * are reads of the register, too: they show a commit before its update has returned.
 */
final class RegisterChecker {

    private final KeyHistory history;
    private final List<Loss> losses;

    /** For each version the earliest end of a call that shows it, or a later one, as committed. */
    private final Evidence[] evidence;

    private final Findings findings = new Findings();

    /** @param call the call that shows that the version was committed when it ended */
    private record Evidence(long at, Object call) {}

    private RegisterChecker(KeyHistory history, List<Loss> losses) {
        this.history = history;
        this.losses = losses;
        this.evidence = new Evidence[history.latestVersion() + 2];
    }

    static Findings check(KeyHistory history, List<Loss> losses) {
        return new RegisterChecker(history, losses).check();
    }

    private Findings check() {
        findings.violations().addAll(history.impossibleVersions());
        collectEvidence();
        history.reads().forEach(this::checkRead);
        for (int version = 1; version <= history.latestVersion(); version++) {
            checkUpdate(version);
        }
        return findings;
    }

    private void collectEvidence() {
        for (Read read : history.reads()) {
            note(read.version(), new Evidence(read.ended(), read));
        }
        for (int version = 1; version <= history.latestVersion(); version++) {
            for (Update update : history.writersOf(version)) {
                if (update.isAcknowledged()) {
                    note(version, new Evidence(update.ended(), update));
                }
            }
        }
        for (int version = history.latestVersion(); version > 0; version--) {
            Evidence later = evidence[version + 1];
            if (later != null) {
                note(version, later);
            }
        }
    }

    private void note(int version, Evidence found) {
        if (evidence[version] == null || found.at() < evidence[version].at()) {
            evidence[version] = found;
        }
    }

    private void checkRead(Read read) {
        Evidence newer = evidence[read.version() + 1];
        if (newer == null || newer.at() >= read.began()) {
            return;
        }
        String what = "%s: stale by %.1f ms: %s, although before it ended %s"
                .formatted(history.key(), (read.began() - newer.at()) / 1e6, read, newer.call());
        (isAdmitted(read) ? findings.admitted() : findings.violations()).add(what);
    }

    /** Whether each version that the read should have seen may have been missed because Redis had lost data. */
    private boolean isAdmitted(Read read) {
        return losses.stream().anyMatch(loss -> {
            for (int version = read.version() + 1; version <= history.latestVersion(); version++) {
                boolean seen = evidence[version] != null && evidence[version].at() < read.began();
                if (seen && history.writersOf(version).stream().noneMatch(update -> loss.admits(read, update))) {
                    return false;
                }
            }
            return true;
        });
    }

    private void checkUpdate(int version) {
        List<Update> writers = history.writersOf(version);
        Evidence shown = evidence[version];
        if (shown != null && !writers.isEmpty() && writers.stream().allMatch(update -> shown.at() < update.began())) {
            findings.violations()
                    .add("%s: seen before it began: %s ended before %s"
                            .formatted(history.key(), shown.call(), writers));
        }
    }
}
