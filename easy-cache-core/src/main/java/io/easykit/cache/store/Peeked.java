package io.easykit.cache.store;

import java.time.Duration;

/**
 * A value that one reader may have.
 *
 * @param remaining how long it may still be returned, by the store's clock
 * @param stale     whether it was invalidated and is only returned inside the stale window
 * @param expired   whether its TTL is over, and it is only returned because the load of a new one has failed
 */
public record Peeked(Envelope value, Duration remaining, boolean stale, boolean expired) {}
