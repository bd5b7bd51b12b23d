package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.ShardKey;
import io.easykit.delayqueue.listener.TopicSettings;
import io.easykit.delayqueue.listener.TopicSettingsTable;
import io.easykit.delayqueue.redis.RedisQueueStore;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the delay queue.
 *
 * @param enabled whether there is a delay queue
 * @param keyPrefix start of every key and channel in Redis; the same for all senders and listeners of a topic, and another
 *     for each application that shares the Redis
 * @param commandTimeout until a call without an answer of Redis fails
 * @param stopTimeout for running listeners to end by themselves when the application stops; what has not ended then is
 *     interrupted, and runs elsewhere
 * @param autoStartup whether the listeners start with the application
 * @param sendPhase when a message that is sent inside a transaction is stored, unless it says otherwise
 * @param json how payloads are read and written
 * @param defaults settings of all topics
 * @param topics settings by topic, in brackets where its name has other characters than letters, digits and hyphens; they
 *     win over the annotation's attributes, and those over the defaults
 */
@ConfigurationProperties(prefix = "delay-queue", ignoreUnknownFields = false)
record DelayQueueProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue(RedisQueueStore.DEFAULT_KEY_PREFIX) String keyPrefix,
        @DefaultValue("250ms") Duration commandTimeout,
        @DefaultValue("20s") Duration stopTimeout,
        @DefaultValue("true") boolean autoStartup,
        @DefaultValue("before-commit") SendPhase sendPhase,
        @DefaultValue JsonSettings json,
        @NestedConfigurationProperty @Nullable TopicSettings defaults,
        @DefaultValue Map<String, TopicSettings> topics) {

    DelayQueueProperties {
        requireKeyPrefix(keyPrefix);
        if (commandTimeout.toMillis() < 1) {
            throw new InvalidSettingException(
                    "delay-queue.command-timeout", commandTimeout, "Choose 1ms or more, for example 250ms.");
        }
        if (stopTimeout.isNegative()) {
            throw new InvalidSettingException(
                    "delay-queue.stop-timeout", stopTimeout, "Choose 0s or more, such as 20s.");
        }
        topics.keySet().forEach(DelayQueueProperties::requireTopic);
    }

    private static void requireKeyPrefix(String keyPrefix) {
        if (!RedisQueueStore.isKeyPrefix(keyPrefix)) {
            throw new InvalidSettingException(
                    "The setting delay-queue.key-prefix is '" + keyPrefix + "', which cannot start a key.",
                    "Use 1 to 64 letters, digits and characters of . _ : / - (no braces: they would change the hash tag"
                            + " of a cluster), for example ${spring.application.name}:dq:");
        }
    }

    private static void requireTopic(String name) {
        try {
            new ShardKey(name, 0);
        } catch (IllegalArgumentException e) {
            throw new InvalidSettingException(
                    "The setting delay-queue.topics[" + name + "] is for no topic. " + e.getMessage(),
                    "Correct the name, or remove its settings.");
        }
    }

    TopicSettingsTable table() {
        return new TopicSettingsTable(defaults == null ? TopicSettings.NONE : defaults, topics, stopTimeout);
    }
}
