package io.easykit.cache;

import java.time.Duration;

/**
 * Backlog of the outbox for one cluster, counted in entries.
 *
 * @param waiting invalidations that were not delivered
 * @param delivered invalidations that were delivered, and are kept for the case of a fail-over
 * @param oldest time since the first waiting invalidation was written; zero if there is none
 */
public record OutboxBacklog(long waiting, long delivered, Duration oldest) {}
