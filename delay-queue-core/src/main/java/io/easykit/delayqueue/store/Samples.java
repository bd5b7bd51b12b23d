package io.easykit.delayqueue.store;

import io.easykit.delayqueue.admin.TopicSeries;
import java.time.Instant;
import java.util.List;

/**
 * Samples of one shard.
 *
 * @param now    the store's clock
 * @param points one a minute, the oldest first; none of minutes without a sample
 */
public record Samples(Instant now, List<TopicSeries.Point> points) {

    public Samples {
        points = List.copyOf(points);
    }
}
