package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.CheckedSettings;
import io.easykit.boot.Problem;
import io.easykit.boot.SettingChecks;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.ShardKey;
import io.easykit.delayqueue.listener.InvalidTopicSettingsException;
import io.easykit.delayqueue.listener.TopicSettings;
import io.easykit.delayqueue.listener.TopicSettingsTable;
import io.easykit.delayqueue.redis.RedisQueueStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
 * @param sendTimeout maximum time for a send to wait for a Redis that is away, such as during a fail-over; 0 tries once.
 *     A message can have its own
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
        @DefaultValue("0s") Duration sendTimeout,
        @DefaultValue("8MB") DataSize maxMessageSize,
        @DefaultValue JsonSettings json,
        @NestedConfigurationProperty @Nullable TopicSettings defaults,
        @DefaultValue Map<String, TopicSettings> topics)
        implements CheckedSettings {

    private static final Duration LONGEST_SEND_WAIT = Duration.ofHours(1);
    private static final Duration LONGEST_STOP = Duration.ofDays(1);
    private static final DataSize LARGEST_MESSAGE = DataSize.ofMegabytes(512);

    @Override
    public List<Problem> problems() {
        SettingChecks checks = new SettingChecks("delay-queue.");
        checks.keyPrefix(RedisQueueStore.isKeyPrefix(keyPrefix), keyPrefix, "${spring.application.name}:dq:");
        checks.commandTimeout(commandTimeout);
        checks.duration("stop-timeout", stopTimeout, Duration.ZERO, LONGEST_STOP, "0s to 1d, for example 20s");
        checks.duration("send-timeout", sendTimeout, Duration.ZERO, LONGEST_SEND_WAIT, "0s to 1h, for example 5s");
        checks.that(
                maxMessageSize.toBytes() >= 1 && maxMessageSize.compareTo(LARGEST_MESSAGE) <= 0,
                "max-message-size",
                maxMessageSize,
                "Choose 1B to 512MB, for example 8MB.");
        if (defaults != null) {
            checks.add(problems("delay-queue.defaults", defaults));
        }
        topics.forEach((topic, settings) -> checks.add(topicProblems(topic, settings)));
        return checks.problems();
    }

    private static List<Problem> topicProblems(String name, TopicSettings settings) {
        List<Problem> problems = new ArrayList<>();
        try {
            new ShardKey(name, 0);
        } catch (IllegalArgumentException e) {
            problems.add(new Problem(
                    "The setting delay-queue.topics[" + name + "] is for no topic. " + e.getMessage(),
                    "Correct the name, or remove its settings."));
        }
        problems.addAll(problems(SettingChecks.element("delay-queue.topics", name), settings));
        return problems;
    }

    private static List<Problem> problems(String prefix, TopicSettings settings) {
        try {
            settings.check();
            return List.of();
        } catch (InvalidTopicSettingsException invalid) {
            return invalid.complaints().stream()
                    .map(one -> Problem.setting(prefix + "." + one.name(), one.value(), one.remedy()))
                    .toList();
        }
    }

    TopicSettingsTable table() {
        return new TopicSettingsTable(defaults == null ? TopicSettings.NONE : defaults, topics, stopTimeout);
    }

    /** Without what is wrong, so that it is not reported again with each listener. */
    TopicSettingsTable usableTable() {
        Map<String, TopicSettings> usable = new HashMap<>(topics);
        topics.forEach((topic, settings) -> {
            if (!topicProblems(topic, settings).isEmpty()) {
                usable.remove(topic);
            }
        });
        TopicSettings usableDefaults =
                defaults == null || !problems("delay-queue.defaults", defaults).isEmpty()
                        ? TopicSettings.NONE
                        : defaults;
        return new TopicSettingsTable(usableDefaults, usable, Duration.ZERO);
    }
}
