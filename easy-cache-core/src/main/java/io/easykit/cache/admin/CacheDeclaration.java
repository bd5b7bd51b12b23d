package io.easykit.cache.admin;

import static io.easykit.cache.CacheOptions.text;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.StaleOnErrorOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A place that declares a cache, with the settings in force.
 *
 * @param source    the method, for example {@code @Cacheable com.shop.Products.find(long)}, or the bean or code that has the
 *     {@link CacheSpec}
 * @param spec      the cache
 * @param keyParts  the parts of its keys; empty if unknown
 * @param settings  the settings in force, each with its source
 * @param staleness how stale a value can be, and when, in a sentence
 */
public record CacheDeclaration(
        String source, CacheSpec<?> spec, List<KeyPart> keyParts, List<Setting> settings, String staleness) {

    public CacheDeclaration {
        keyParts = List.copyOf(keyParts);
        settings = List.copyOf(settings);
    }

    /**
     * A part of a key.
     *
     * @param text the declared expression, for example {@code #id}
     * @param type type of its values; null if only the call determines it
     */
    public record KeyPart(String text, @Nullable Class<?> type) {}

    /**
     * A setting.
     *
     * @param name   as in a properties file, for example {@code stale-window}
     * @param value  the value in force, for example {@code 1500ms}
     * @param source where it comes from, for example {@code easy-cache.defaults.ttl}, {@code @Cacheable ttl} or
     *     {@code default}
     */
    public record Setting(String name, String value, String source) {}

    /**
     * Lists the settings of a cache as they are in force: the stale window of a CP cache is zero, and values are refreshed at
     * most a tenth of their TTL ahead. The settings of the order are listed for serial caches only, and those of expired
     * values for caches that keep them.
     *
     * @param sources returns the source of a setting by its name
     */
    public static List<Setting> settings(CacheOptions options, UnaryOperator<String> sources) {
        List<Setting> settings = new ArrayList<>(List.of(
                setting("consistency", options.consistency().name().toLowerCase(Locale.ROOT), sources),
                setting("ttl", text(options.ttl()), sources),
                setting("null-ttl", text(options.nullTtl()), sources),
                setting("ttl-jitter", Double.toString(options.ttlJitter()), sources),
                changed(
                        "stale-window",
                        options.staleWindow(),
                        options.effectiveStaleWindow(),
                        "zero under cp",
                        sources),
                changed(
                        "refresh-ahead",
                        options.refreshAhead(),
                        options.effectiveRefreshAhead(),
                        "limited to a tenth of the ttl",
                        sources),
                setting("near-ttl", text(options.nearTtl()), sources),
                setting("load-lease", text(options.loadLease()), sources),
                setting("load-wait-timeout", text(options.loadWaitTimeout()), sources),
                setting("update-lease", text(options.updateLease()), sources),
                setting("reload", options.reload().name().toLowerCase(Locale.ROOT), sources)));
        StaleOnErrorOptions staleOnError = options.staleOnError();
        if (staleOnError != null) {
            settings.add(setting("stale-on-error", text(staleOnError.keptFor()), sources));
            settings.add(setting("load-soft-timeout", text(staleOnError.loadSoftTimeout()), sources));
            settings.add(setting("load-retry-after", text(staleOnError.loadRetryAfter()), sources));
        }
        SerialOptions serial = options.serial();
        if (serial != null) {
            settings.add(setting("serial", "true", sources));
            settings.add(setting("serial-wait", text(serial.maxWait()), sources));
            settings.add(setting("serial-queue", Integer.toString(serial.maxQueue()), sources));
        }
        return List.copyOf(settings);
    }

    private static Setting changed(
            String name, Duration set, Duration inForce, String reason, UnaryOperator<String> sources) {
        Setting setting = setting(name, text(inForce), sources);
        return set.equals(inForce)
                ? setting
                : new Setting(name, setting.value, setting.source + " (" + text(set) + "), " + reason);
    }

    private static Setting setting(String name, String value, UnaryOperator<String> sources) {
        return new Setting(name, value, sources.apply(name));
    }
}
