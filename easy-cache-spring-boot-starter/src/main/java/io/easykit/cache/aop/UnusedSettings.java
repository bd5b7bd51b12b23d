package io.easykit.cache.aop;

import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds settings that name a prefix which no method uses. */
final class UnusedSettings {

    private static final Logger log = LoggerFactory.getLogger(UnusedSettings.class);

    private UnusedSettings() {}

    static void warn(CacheSettingsTable settings, Set<String> usedPrefixes) {
        for (String prefix : without(settings.caches().keySet(), usedPrefixes)) {
            log.warn(
                    "easy-cache.caches has settings for '{}', but no @Cacheable or @UpdateCache has that"
                            + " prefix. They have no effect. Correct the name (in brackets if it has dots or"
                            + " colons), or remove them. A name in an environment variable cannot have dashes, dots"
                            + " or capitals: use SPRING_APPLICATION_JSON for them.",
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
