package io.easykit.delayqueue.admin;

import org.jspecify.annotations.Nullable;

/**
 * A topic in one line of an overview.
 *
 * @param shards       number of shards
 * @param pausedShards how many of them are paused
 * @param total        numbers of all shards that answered; null if none did
 * @param rates        of the last minute; null if there are no samples of it
 * @param places       how many calls of its listeners all nodes together can run at a time, without paused listeners
 * @param failure      why shards are missing in the numbers: the store refuses them, or does not answer; or null
 */
public record TopicSummary(
        String topic,
        int shards,
        int pausedShards,
        @Nullable ShardStats total,
        TopicSeries.@Nullable Rates rates,
        int places,
        @Nullable String failure) {}
