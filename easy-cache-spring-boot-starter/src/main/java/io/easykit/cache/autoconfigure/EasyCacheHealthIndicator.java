package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability.State;
import io.easykit.cache.EasyCache;
import java.util.Map;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/**
 * Shows which Redis clusters the cache currently bypasses. Never DOWN: the application works without Redis, and taking
 * it out of service would not help. Sends no commands to Redis, so it never waits.
 */
final class EasyCacheHealthIndicator implements HealthIndicator {

    private final EasyCache cache;

    EasyCacheHealthIndicator(EasyCache cache) {
        this.cache = cache;
    }

    @Override
    public Health health() {
        Map<String, ClusterState> clusters = ClusterState.all(cache);
        boolean complete = clusters.values().stream().allMatch(cluster -> cluster.state() == State.AVAILABLE);
        return Health.status(complete ? Status.UP : Status.UNKNOWN)
                .withDetails(clusters)
                .build();
    }
}
