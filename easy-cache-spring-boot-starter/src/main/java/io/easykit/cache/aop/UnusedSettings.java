package io.easykit.cache.aop;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds settings that name a prefix which no method uses, or one whose options are in code. */
final class UnusedSettings {

    private static final Logger log = LoggerFactory.getLogger(UnusedSettings.class);

    private UnusedSettings() {}

    static void warn(CacheSettingsTable settings, Set<String> usedPrefixes, Set<String> ofSpecs) {
        for (String prefix : without(settings.caches().keySet(), usedPrefixes)) {
            log.warn(
                    "easy-cache.caches has settings for '{}', but no @Cacheable or @UpdateCache has that"
                            + " prefix. They have no effect. Correct the name (in brackets if it has dots or"
                            + " colons), or remove them. A name in an environment variable cannot have dashes, dots"
                            + " or capitals: use SPRING_APPLICATION_JSON for them.",
                    prefix);
        }
        Set<String> ignored = new TreeSet<>(settings.caches().keySet());
        ignored.retainAll(ofSpecs);
        for (String prefix : ignored) {
            log.warn(
                    "The settings of '{}' under easy-cache.caches have no effect, because its CacheSpec bean has options"
                            + " of its own. Set them there by withOptions, and remove these settings.",
                    prefix);
        }
        for (String prefix : without(settings.externalPrefixes(), usedPrefixes)) {
            log.warn(
                    "easy-cache.external-prefixes contains '{}', but no @UpdateCache has that prefix. It has no"
                            + " effect. Correct or remove it.",
                    prefix);
        }
    }

    private static Set<String> without(Set<String> all, Set<String> used) {
        Set<String> unused = new LinkedHashSet<>(all);
        unused.removeAll(used);
        return unused;
    }
}
