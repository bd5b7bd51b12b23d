package io.easykit.cache.autoconfigure;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.StoreUnavailableException;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Says whether Redis answers the cache. Never DOWN: without Redis the application goes on, and taking it out of service
 * would help nobody.
 */
final class EasyCacheHealthIndicator implements HealthIndicator {

    private final RedisConnections connections;

    EasyCacheHealthIndicator(RedisConnections connections) {
        this.connections = connections;
    }

    @Override
    public Health health() {
        try {
            connections.ping();
            return Health.up()
                    .withDetail(CacheSpec.DEFAULT_CLUSTER, "available")
                    .build();
        } catch (StoreUnavailableException away) {
            return Health.unknown()
                    .withDetail(CacheSpec.DEFAULT_CLUSTER, "unavailable: " + away.getMessage())
                    .build();
        }
    }
}
