package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings of all topics. Those of a topic override the annotation, which overrides the defaults.
 *
 * @param defaults settings of all topics
 * @param topics settings by topic
 * @param stopTimeout maximum time for running methods to finish when the application stops
 */
public record TopicSettingsTable(TopicSettings defaults, Map<String, TopicSettings> topics, Duration stopTimeout) {

    public TopicSettingsTable {
        topics = Map.copyOf(topics);
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

    /** Returns the topics that have their own settings. */
    public Set<String> configured() {
        return topics.keySet();
    }

    TopicSettings settings(String topic, TopicSettings declared) {
        return topics.getOrDefault(topic, TopicSettings.NONE).over(declared).over(defaults);
    }
}
