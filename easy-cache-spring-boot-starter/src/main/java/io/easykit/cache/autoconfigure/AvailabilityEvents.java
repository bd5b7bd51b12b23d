package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheListener;
import org.springframework.context.ApplicationEventPublisher;

/** Tells the application's event listeners. */
final class AvailabilityEvents implements CacheListener {

    private final ApplicationEventPublisher publisher;

    AvailabilityEvents(ApplicationEventPublisher publisher) {
        this.publisher = publisher;
    }

    @Override
    public void onAvailability(String clusterId, State state) {
        publisher.publishEvent(new RedisAvailabilityEvent(clusterId, state));
    }
}
