package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DelayTopic;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The settings of all topics. Those of a topic override the annotation and the {@link DelayTopic}, which override the defaults.
 *
 * @param defaults settings of all topics
 * @param topics settings by topic
 * @param declared settings of the declared topics
 * @param stopTimeout maximum time for running methods to finish when the application stops
 */
public record TopicSettingsTable(
        TopicSettings defaults,
        Map<String, TopicSettings> topics,
        Map<String, TopicSettings> declared,
        Duration stopTimeout) {

    public TopicSettingsTable {
        topics = Map.copyOf(topics);
        declared = Map.copyOf(declared);
    }

    /** Settings without declared topics. */
    public TopicSettingsTable(TopicSettings defaults, Map<String, TopicSettings> topics, Duration stopTimeout) {
        this(defaults, topics, Map.of(), stopTimeout);
    }

    /** Returns these settings with those of declared topics. Of several for one topic the first holds; the start fails then. */
    public TopicSettingsTable declaredBy(List<DelayTopic> declarations) {
        Map<String, TopicSettings> byName = new HashMap<>();
        declarations.forEach(topic -> byName.putIfAbsent(topic.name(), TopicSettings.of(topic)));
        return new TopicSettingsTable(defaults, topics, byName, stopTimeout);
    }

    /** Returns the configured number of shards of a topic; 0 if Redis decides. */
    public int shards(String topic) {
        return Objects.requireNonNullElse(settings(topic, TopicSettings.NONE).shards(), 0);
    }

    /** Returns how many replicas have to confirm a message to the topic; null for none. */
    public @Nullable ReplicaWait replicaWait(String topic) {
        return settings(topic, TopicSettings.NONE).replicaWait();
    }

    /** Returns how long messages of the topic may be due while no node consumes them; null for no limit. */
    public @Nullable Duration noConsumer(String topic) {
        return settings(topic, TopicSettings.NONE).noConsumer();
    }

    /**
     * Returns the limits that are declared or set for the topic, which hold for all its listeners; none if only the defaults have
     * some.
     */
    public FlowLimits limits(String topic) {
        boolean areOfTopic = topics.getOrDefault(topic, TopicSettings.NONE).hasLimits()
                || declared.getOrDefault(topic, TopicSettings.NONE).hasLimits();
        return areOfTopic ? settings(topic, TopicSettings.NONE).limits() : FlowLimits.NONE;
    }

    TopicSettings settings(String topic, TopicSettings annotation) {
        return topics.getOrDefault(topic, TopicSettings.NONE)
                .over(annotation)
                .over(declared.getOrDefault(topic, TopicSettings.NONE))
                .over(defaults);
    }

    /**
     * Returns the settings of a listener.
     *
     * @throws InvalidDelayListenerException if its annotation contradicts the declared topic, and no setting overrides both
     */
    TopicSettings settings(ListenerMethod where, ListenerAttributes listener) {
        String topic = listener.topic();
        Integer ofTopic = declared.getOrDefault(topic, TopicSettings.NONE).maxLeaseExpirations();
        Integer ofListener = listener.settings().maxLeaseExpirations();
        boolean isOverridden = topics.getOrDefault(topic, TopicSettings.NONE).maxLeaseExpirations() != null;
        if (ofTopic != null && ofListener != null && !ofTopic.equals(ofListener) && !isOverridden) {
            throw where.problem(
                    "maxLeaseExpirations is " + ofListener + ", and the DelayTopic '" + topic + "' has " + ofTopic,
                    "Remove it from the annotation, because it belongs to the topic.");
        }
        return settings(topic, listener.settings());
    }
}
