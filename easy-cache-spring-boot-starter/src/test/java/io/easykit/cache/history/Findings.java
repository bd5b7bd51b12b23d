package io.easykit.cache.history;

import java.util.ArrayList;
import java.util.List;

/**
 * What a checker found.
 *
 * @param violations broken promises, in words
 * @param admitted stale reads that the documentation allows after Redis has lost data, in words
 */
record Findings(List<String> violations, List<String> admitted) {

    Findings() {
        this(new ArrayList<>(), new ArrayList<>());
    }

    void addAll(Findings others) {
        violations.addAll(others.violations);
        admitted.addAll(others.admitted);
    }
}
