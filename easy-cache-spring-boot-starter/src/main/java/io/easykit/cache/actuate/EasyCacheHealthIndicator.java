package io.easykit.cache.actuate;

import io.easykit.cache.EasyCache;
import java.util.Map;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/**
 * UNKNOWN while a Redis is unavailable or takes no new entries, with the reason. Never DOWN: the application works without
 * Redis, and taking it out of service would not help. The cache tries a write in the background, so this never waits.
 */
public final class EasyCacheHealthIndicator implements HealthIndicator {

    private final EasyCache cache;

    public EasyCacheHealthIndicator(EasyCache cache) {
        this.cache = cache;
    }

    @Override
    public Health health() {
        Map<String, ClusterState> clusters = ClusterState.all(cache);
        boolean complete = clusters.values().stream().allMatch(ClusterState::complete);
        return Health.status(complete ? Status.UP : Status.UNKNOWN)
                .withDetails(clusters)
                .build();
    }
}
