package io.easykit.delayqueue.engine;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Refusals of the steps of a loop that were logged. One that comes back after its step has succeeded is logged again. */
final class Refusals {

    /** For each step. Texts may contain values that change. */
    private static final int MOST = 20;

    private final Map<String, Set<String>> logged = new HashMap<>();

    /** Whether a refusal is to be logged. */
    boolean isNew(String step, String text) {
        boolean isKnown = logged.values().stream().anyMatch(texts -> texts.contains(text));
        Set<String> ofStep = logged.computeIfAbsent(step, first -> new HashSet<>());
        return ofStep.size() < MOST && ofStep.add(text) && !isKnown;
    }

    void succeeded(String step) {
        logged.remove(step);
    }
}
