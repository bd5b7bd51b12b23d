package io.easykit.cache.redis;

import java.util.EnumMap;
import java.util.Map;

/** The scripts as shipped, or weakened to see whether a test bites. */
final class ScriptTexts {

    private final Map<CacheScript, String> texts = new EnumMap<>(CacheScript.class);

    private ScriptTexts() {
        for (CacheScript script : CacheScript.values()) {
            texts.put(script, script.lua().text());
        }
    }

    static ScriptTexts shipped() {
        return new ScriptTexts();
    }

    /**
     * Replaces a part of one script.
     *
     * @throws IllegalArgumentException unless the part stands in it exactly once
     */
    ScriptTexts weaken(CacheScript script, String part, String replacement) {
        ScriptTexts weakened = new ScriptTexts();
        weakened.texts.putAll(texts);
        weakened.texts.put(script, replaceOnce(of(script), part, replacement));
        return weakened;
    }

    String of(CacheScript script) {
        return texts.get(script);
    }

    static String replaceOnce(String text, String part, String replacement) {
        int at = text.indexOf(part);
        if (at < 0 || text.indexOf(part, at + 1) >= 0) {
            throw new IllegalArgumentException("'" + part + "' must stand exactly once in: " + text);
        }
        return text.substring(0, at) + replacement + text.substring(at + part.length());
    }
}
