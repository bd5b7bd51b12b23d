package io.easykit.cache.history;

import java.nio.file.Path;
import java.util.List;

/**
 * What a run has shown.
 *
 * @param summary counts, in words
 */
record Verdict(Findings findings, String summary, int reads, long updates) {

    static Verdict of(Path directory, List<Loss> losses) {
        History history = History.read(directory);
        Findings findings = new Findings();
        Outages outages = history.outages();
        for (KeyHistory key : history.keys()) {
            findings.addAll(
                    Caches.isCp(key.key())
                            ? RegisterChecker.check(key, losses)
                            : StalenessChecker.check(key, Caches.BOUNDS, outages, losses));
        }
        int reads = history.reads().size();
        long acknowledged =
                history.updates().stream().filter(Update::isAcknowledged).count();
        String summary =
                "%d reads, %d updates, %d updates of unknown outcome, without effect: %s; %d violations, %d admitted"
                        .formatted(
                                reads,
                                acknowledged,
                                history.updates().size() - acknowledged,
                                history.others(),
                                findings.violations().size(),
                                findings.admitted().size());
        return new Verdict(findings, summary, reads, acknowledged);
    }
}
