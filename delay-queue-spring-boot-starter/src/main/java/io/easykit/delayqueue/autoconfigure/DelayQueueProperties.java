package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.CheckedSettings;
import io.easykit.boot.Problem;
import io.easykit.boot.SettingChecks;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.listener.InvalidTopicSettingsException;
import io.easykit.delayqueue.listener.TopicSettings;
import io.easykit.delayqueue.listener.TopicSettingsTable;
import io.easykit.delayqueue.observation.Tracing;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.KeyPrefix;
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
 * @param enabled Whether messages are sent and delivered. If false, Redis is not used; the beans exist, and
 *     when-disabled decides what their calls do.
 * @param whenDisabled Result of calls while enabled is false: fail throws an exception, ignore discards messages
 *     silently.
 * @param keyPrefix Prefix of all keys and channels in Redis, 1 to 64 letters, digits and characters of . _ : / -. Must
 *     be equal for all senders and listeners of a topic. Use another one for each application that shares the Redis.
 * @param commandTimeout Maximum time to wait for a reply from Redis, from 1ms to 1h. Increase it for large messages or
 *     a slow network.
 * @param stopTimeout Maximum time for running listener methods to finish when the application stops, from 0s to 1d.
 *     Later ones are interrupted, and their messages run again on another node.
 * @param autoStartup Whether listeners start with the application. If false, call
 *     DelayListenerRegistry.start().
 * @param heartbeatInterval Interval at which each node reports itself and its listeners to the others, from 1s to 1m. A
 *     node that is silent for three intervals is forgotten.
 * @param sendPhase Time at which a message that is sent inside a transaction is stored: before-commit, after-commit,
 *     immediately, or with outbox by the transaction in the application's database. Can be set for each message.
 * @param sendTimeout Maximum time for a send to wait while Redis is unavailable, for example during a fail-over, from
 *     0s to 1h. With 0s a send is tried once. Can be set for each message.
 * @param maxMessageSize Maximum size of a message, payload and headers together, from 1B to 512MB. Larger messages also
 *     need a longer command-timeout.
 * @param tracing How the span of a delivery relates to that of the send, if the application traces: link, child or off.
 *     With off nothing is observed, and messages get no header.
 * @param propagation Context of the sender that its messages carry.
 * @param idempotency Records of the messages that idempotent listeners have handled.
 * @param outbox Outbox in the application's database.
 * @param json JSON settings of payloads.
 * @param webhook Webhook that gets alerts.
 * @param defaults Settings of all topics. Annotation attributes and the settings of a topic override them.
 * @param topics Settings by topic, which override annotation attributes. By default there are none. Put a name with
 *     dots, colons or slashes in brackets.
 */
@ConfigurationProperties(prefix = "delay-queue", ignoreUnknownFields = false)
record DelayQueueProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("fail") DisabledQueue.Calls whenDisabled,
        @DefaultValue(RedisQueueStore.DEFAULT_KEY_PREFIX) String keyPrefix,
        @DefaultValue("250ms") Duration commandTimeout,
        @DefaultValue("20s") Duration stopTimeout,
        @DefaultValue("true") boolean autoStartup,
        @DefaultValue("10s") Duration heartbeatInterval,
        @DefaultValue("before-commit") SendPhase sendPhase,
        @DefaultValue("0s") Duration sendTimeout,
        @DefaultValue("8MB") DataSize maxMessageSize,
        @DefaultValue("link") Tracing tracing,
        @NestedConfigurationProperty @DefaultValue PropagationSettings propagation,
        @NestedConfigurationProperty @DefaultValue IdempotencySettings idempotency,
        @NestedConfigurationProperty @DefaultValue OutboxSettings outbox,
        @NestedConfigurationProperty @DefaultValue JsonSettings json,
        @NestedConfigurationProperty @DefaultValue WebhookSettings webhook,
        @NestedConfigurationProperty @Nullable TopicSettings defaults,
        @DefaultValue Map<String, TopicSettings> topics)
        implements CheckedSettings {

    private static final Duration LONGEST_SEND_WAIT = Duration.ofHours(1);
    private static final Duration SHORTEST_HEARTBEAT = Duration.ofSeconds(1);
    private static final Duration LONGEST_HEARTBEAT = Duration.ofMinutes(1);
    private static final Duration LONGEST_STOP = Duration.ofDays(1);
    private static final DataSize LARGEST_MESSAGE = DataSize.ofMegabytes(512);

    @Override
    public List<Problem> problems() {
        SettingChecks checks = new SettingChecks("delay-queue.");
        checks.keyPrefix(KeyPrefix.isUsable(keyPrefix), keyPrefix, "${spring.application.name}:dq:");
        checks.commandTimeout(commandTimeout);
        checks.duration("stop-timeout", stopTimeout, Duration.ZERO, LONGEST_STOP, "0s to 1d, for example 20s");
        checks.duration(
                "heartbeat-interval",
                heartbeatInterval,
                SHORTEST_HEARTBEAT,
                LONGEST_HEARTBEAT,
                "1s to 1m, for example 10s");
        checks.duration("send-timeout", sendTimeout, Duration.ZERO, LONGEST_SEND_WAIT, "0s to 1h, for example 5s");
        checks.that(
                maxMessageSize.toBytes() >= 1 && maxMessageSize.compareTo(LARGEST_MESSAGE) <= 0,
                "max-message-size",
                maxMessageSize,
                "Choose 1B to 512MB, for example 8MB.");
        outbox.check(checks, commandTimeout, hasOutbox());
        propagation.check(checks);
        idempotency.check(checks);
        webhook.check(checks);
        if (defaults != null) {
            checks.add(problems("delay-queue.defaults", defaults));
        }
        topics.forEach((topic, settings) -> checks.add(topicProblems(topic, settings)));
        return checks.problems();
    }

    /** Whether messages can be sent with the phase outbox, and this node stores those that wait. */
    boolean hasOutbox() {
        return hasOutbox(outbox.enabled(), sendPhase);
    }

    static boolean hasOutbox(@Nullable Boolean isEnabled, @Nullable SendPhase phase) {
        return isEnabled == null ? phase == SendPhase.OUTBOX : isEnabled;
    }

    private static List<Problem> topicProblems(String name, TopicSettings settings) {
        List<Problem> problems = new ArrayList<>();
        try {
            new ShardKey(name, 0);
        } catch (IllegalArgumentException e) {
            problems.add(new Problem(
                    "The setting delay-queue.topics[" + name + "] is not for a valid topic. " + e.getMessage(),
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

    /** Returns the valid settings only, so that errors are not reported again for each listener. */
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
