package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability;

/**
 * Published when the cache begins to go without a Redis, and when it asks it again; also when an operator says so.
 *
 * @param clusterId which Redis; {@code default} is the application's own
 * @param node which part of a Redis Cluster, for example {@code slots 0-5460}; empty for the whole, which counts as
 *     available only if all parts are
 * @param state what it is now
 */
public record RedisAvailabilityEvent(String clusterId, String node, Availability.State state) {}
