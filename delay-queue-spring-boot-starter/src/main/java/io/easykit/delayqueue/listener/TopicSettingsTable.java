package io.easykit.delayqueue.listener;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * All settings of topics: those of a topic win over the annotation, and that wins over the defaults.
 *
 * @param defaults of all topics
 * @param topics by name
 * @param stopTimeout for running methods to end by themselves when the application stops
 */
public record TopicSettingsTable(TopicSettings defaults, Map<String, TopicSettings> topics, Duration stopTimeout) {

    public TopicSettingsTable {
        topics = Map.copyOf(topics);
    }

    /** How many shards a topic is set to have; 0 if that is left to Redis. */
    public int shards(String topic) {
        return Objects.requireNonNullElse(settings(topic, TopicSettings.NONE).shards(), 0);
    }

    /** The topics that have settings of their own. */
    public Set<String> configured() {
        return topics.keySet();
    }

    TopicSettings settings(String topic, TopicSettings declared) {
        return topics.getOrDefault(topic, TopicSettings.NONE).over(declared).over(defaults);
    }
}
