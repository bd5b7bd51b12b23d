package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.ShardKey;
import io.easykit.delayqueue.listener.InvalidTopicSettingsException;
import io.easykit.delayqueue.listener.TopicSettings;
import io.easykit.delayqueue.listener.TopicSettingsTable;
import io.easykit.delayqueue.redis.RedisQueueStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Settings of the delay queue.
 *
 * @param enabled whether messages are sent and delivered; without it the beans exist, and their calls fail
 * @param whenDisabled what becomes of sends while {@code enabled} is false: they fail, or are lost in silence (ignore)
 * @param keyPrefix start of every key and channel in Redis; the same for all senders and listeners of a topic, and another
 *     for each application that shares the Redis
 * @param commandTimeout until a call without an answer of Redis fails
 * @param stopTimeout for running listeners to end by themselves when the application stops; what has not ended then is
 *     interrupted, and runs elsewhere
 * @param autoStartup whether the listeners start with the application
 * @param sendPhase when a message that is sent inside a transaction is stored, unless it says otherwise
 * @param maxMessageSize largest message that can be sent: payload and headers as they are stored
 * @param json how payloads are read and written
 * @param defaults settings of all topics
 * @param topics settings by topic, in brackets where its name has other characters than letters, digits and hyphens; they
 *     win over the annotation's attributes, and those over the defaults
 */
@ConfigurationProperties(prefix = "delay-queue", ignoreUnknownFields = false)
record DelayQueueProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("fail") DisabledQueue.Calls whenDisabled,
        @DefaultValue(RedisQueueStore.DEFAULT_KEY_PREFIX) String keyPrefix,
        @DefaultValue("250ms") Duration commandTimeout,
        @DefaultValue("20s") Duration stopTimeout,
        @DefaultValue("true") boolean autoStartup,
        @DefaultValue("before-commit") SendPhase sendPhase,
        @DefaultValue("8MB") DataSize maxMessageSize,
        @DefaultValue JsonSettings json,
        @NestedConfigurationProperty @Nullable TopicSettings defaults,
        @DefaultValue Map<String, TopicSettings> topics) {

    private static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);
    private static final Duration LONGEST_STOP = Duration.ofDays(1);

    DelayQueueProperties {
        List<Problem> problems = new ArrayList<>();
        requireKeyPrefix(keyPrefix, problems);
        if (commandTimeout.compareTo(Duration.ofMillis(1)) < 0 || commandTimeout.compareTo(LONGEST_TIMEOUT) > 0) {
            problems.add(new Problem(
                    "The setting delay-queue.command-timeout is " + commandTimeout + ".",
                    "Choose 1ms to 1h, for example 250ms."));
        }
        if (stopTimeout.isNegative() || stopTimeout.compareTo(LONGEST_STOP) > 0) {
            problems.add(new Problem(
                    "The setting delay-queue.stop-timeout is " + stopTimeout + ".", "Choose 0s to 1d, such as 20s."));
        }
        if (maxMessageSize.toBytes() < 1 || maxMessageSize.toMegabytes() > 512) {
            problems.add(new Problem(
                    "The setting delay-queue.max-message-size is " + maxMessageSize + ".",
                    "Choose 1B to 512MB, such as 8MB."));
        }
        if (defaults != null) {
            check("delay-queue.defaults", defaults, problems);
        }
        topics.forEach((topic, settings) -> {
            requireTopic(topic, problems);
            check("delay-queue.topics" + element(topic), settings, problems);
        });
        if (!problems.isEmpty()) {
            throw new InvalidSettingException(problems);
        }
    }

    private static void requireKeyPrefix(String keyPrefix, List<Problem> problems) {
        if (!RedisQueueStore.isKeyPrefix(keyPrefix)) {
            problems.add(new Problem(
                    "The setting delay-queue.key-prefix is '" + keyPrefix + "', which cannot start a key.",
                    "Use 1 to 64 letters, digits and characters of . _ : / - (no braces: they would change the hash tag"
                            + " of a cluster), for example ${spring.application.name}:dq:"));
        }
    }

    private static void requireTopic(String name, List<Problem> problems) {
        try {
            new ShardKey(name, 0);
        } catch (IllegalArgumentException e) {
            problems.add(new Problem(
                    "The setting delay-queue.topics[" + name + "] is for no topic. " + e.getMessage(),
                    "Correct the name, or remove its settings."));
        }
    }

    /** As one writes it in a properties file. */
    private static String element(String topic) {
        return topic.matches("[a-z0-9-]+") ? "." + topic : "[" + topic + "]";
    }

    private static void check(String prefix, TopicSettings settings, List<Problem> problems) {
        try {
            settings.check();
        } catch (InvalidTopicSettingsException invalid) {
            invalid.complaints()
                    .forEach(one -> problems.add(new Problem(
                            "The setting " + prefix + "." + one.name() + " is " + one.value() + ".", one.remedy())));
        }
    }

    TopicSettingsTable table() {
        return new TopicSettingsTable(defaults == null ? TopicSettings.NONE : defaults, topics, stopTimeout);
    }
}
