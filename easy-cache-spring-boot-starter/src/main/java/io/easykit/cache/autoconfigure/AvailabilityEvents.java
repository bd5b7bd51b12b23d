package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheListener;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Publishes changes of availability as application events. The cache works before the application has started. Until
 * then the latest change of each cluster is kept; it is published at the end of the start, before any later change.
 */
final class AvailabilityEvents implements ApplicationListener<ContextRefreshedEvent> {

    private final ApplicationEventPublisher publisher;
    private @Nullable Map<String, RedisAvailabilityEvent> kept = new LinkedHashMap<>();

    AvailabilityEvents(ApplicationEventPublisher publisher) {
        this.publisher = publisher;
    }

    /** Returns the listener of the cache. It is not a bean, because listener beans belong to the application. */
    CacheListener listener() {
        return new CacheListener() {
            @Override
            public void onAvailability(String clusterId, State state) {
                publish(new RedisAvailabilityEvent(clusterId, "", state));
            }

            @Override
            public void onMasterAvailability(String clusterId, String slots, State state) {
                publish(new RedisAvailabilityEvent(clusterId, slots, state));
            }
        };
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() != publisher) {
            return;
        }
        for (RedisAvailabilityEvent next = takeKept(); next != null; next = takeKept()) {
            publisher.publishEvent(next);
        }
    }

    private void publish(RedisAvailabilityEvent event) {
        if (!isKept(event)) {
            publisher.publishEvent(event);
        }
    }

    private synchronized boolean isKept(RedisAvailabilityEvent event) {
        if (kept == null) {
            return false;
        }
        kept.put(event.clusterId() + " " + event.slots(), event);
        return true;
    }

    /** Returns null when none is left; from then on no event is kept. */
    private synchronized @Nullable RedisAvailabilityEvent takeKept() {
        if (kept == null || kept.isEmpty()) {
            kept = null;
            return null;
        }
        Iterator<RedisAvailabilityEvent> events = kept.values().iterator();
        RedisAvailabilityEvent first = events.next();
        events.remove();
        return first;
    }
}
