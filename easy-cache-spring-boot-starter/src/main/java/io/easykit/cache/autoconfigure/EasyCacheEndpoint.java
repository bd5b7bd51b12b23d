package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.EasyCache;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/** Shows the state of every Redis, and lets operators with unrestricted access force it. */
@Endpoint(id = "easycache", defaultAccess = Access.READ_ONLY)
final class EasyCacheEndpoint {

    private final EasyCache cache;

    EasyCacheEndpoint(EasyCache cache) {
        this.cache = cache;
    }

    /** The states that can be set. */
    enum Setting {
        AVAILABLE,
        UNAVAILABLE,
        /** The state is determined automatically. */
        AUTO
    }

    @ReadOperation
    Map<String, ClusterState> clusters() {
        return ClusterState.all(cache);
    }

    @WriteOperation
    Map<String, ClusterState> set(@Selector String cluster, Setting state) {
        Availability availability = cache.availability(cluster);
        if (availability == null) {
            throw new InvalidEndpointRequestException(
                    "There is no Redis cluster '" + cluster + "'. Use one of " + cache.clusterIds(), "Unknown cluster");
        }
        switch (state) {
            case AVAILABLE -> availability.force(State.AVAILABLE);
            case UNAVAILABLE -> availability.force(State.UNAVAILABLE);
            case AUTO -> availability.reset();
        }
        return clusters();
    }
}
