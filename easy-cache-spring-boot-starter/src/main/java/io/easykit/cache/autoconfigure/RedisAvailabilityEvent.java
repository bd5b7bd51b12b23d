package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability;

/**
 * Published when the cache starts or stops bypassing a Redis, also if an operator forces it.
 *
 * @param clusterId id of the Redis; {@code default} is the application's own
 * @param slots of a master of a Redis Cluster, for example {@code slots 0-5460}; empty for the whole, which is available only
 *     if all parts are
 * @param state the new state
 */
public record RedisAvailabilityEvent(String clusterId, String slots, Availability.State state) {}
