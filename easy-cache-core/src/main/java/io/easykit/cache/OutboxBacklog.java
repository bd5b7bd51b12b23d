package io.easykit.cache;

import java.time.Duration;

/**
 * What is in the outbox for one cluster, one for each entry.
 *
 * @param waiting invalidations that were not delivered
 * @param delivered invalidations that were delivered, and are kept for the case of a failover
 * @param oldest time since the first of those that wait was written; zero if there is none
 */
public record OutboxBacklog(long waiting, long delivered, Duration oldest) {}
