package io.easykit.cache.autoconfigure;

import io.easykit.cache.aop.CacheSettings;
import io.easykit.cache.aop.CacheSettingsTable;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of easy-cache.
 *
 * @param enabled whether annotated methods are cached at all; without it they just run
 * @param commandTimeout how long a call waits for an answer of Redis before it goes on without
 * @param defaults settings of all caches, where an annotation says nothing
 * @param caches settings of single caches by their prefix, in brackets where it has dots or colons; they win over the
 *     annotation
 * @param local the level in this JVM that answers while Redis is away
 */
@ConfigurationProperties(prefix = "easy-cache", ignoreUnknownFields = false)
record EasyCacheProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("250ms") Duration commandTimeout,
        @NestedConfigurationProperty @Nullable CacheSettings defaults,
        @DefaultValue Map<String, CacheSettings> caches,
        @DefaultValue Local local) {

    EasyCacheProperties {
        if (commandTimeout.toMillis() < 1) {
            throw new InvalidSettingException(
                    "easy-cache.command-timeout", commandTimeout, "Choose 1ms or more, for example 250ms.");
        }
    }

    CacheSettingsTable table() {
        return new CacheSettingsTable(defaults == null ? CacheSettings.NONE : defaults, caches);
    }

    /**
     * The level in this JVM.
     *
     * @param maximumSize how many entries it keeps for each Redis; 0 switches it off
     * @param ttl how old what it answers may be
     */
    record Local(@DefaultValue("10000") long maximumSize, @DefaultValue("5s") Duration ttl) {

        Local {
            if (maximumSize < 0) {
                throw new InvalidSettingException(
                        "easy-cache.local.maximum-size", maximumSize, "Choose a number of entries, or 0 for none.");
            }
            if (ttl.toMillis() < 1) {
                throw new InvalidSettingException(
                        "easy-cache.local.ttl",
                        ttl,
                        "Choose 1ms or more, for example 5s; maximum-size 0 switches it off.");
            }
        }
    }
}
