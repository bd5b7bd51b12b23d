package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability;

/**
 * Published when the cache begins to go without a Redis, and when it asks it again; also when an operator says so.
 *
 * @param clusterId which Redis; {@code default} is the application's own
 * @param state what it is now
 */
public record RedisAvailabilityEvent(String clusterId, Availability.State state) {}
