/**
 * The engine behind {@link io.easykit.cache.EasyCache}. {@link EasyCacheEngine} builds it. It depends on no Redis client and not
 * on Spring. The page {@code docs/easy-cache/internals.md} lists all classes of this package.
 *
 * <p><b>A read</b>: {@link EasyCacheEngine} → for serial caches {@link OrderedCalls} → {@link FallbackReader}, which goes on without
 * Redis → {@link CacheDispatcher}, which opens with the essay on the protocol → {@link StoredEntries}, which reads the entry. On a miss
 * → {@link SingleFlight}, which lets one reader of this JVM load → {@link StoredLoads}, or {@link UncachedLoads} for values that may
 * not be stored. Reads for futures take {@link AsyncCalls} → {@link AsyncReader} → {@link AsyncMiss}, and reads of several keys
 * {@link BatchIds} → {@link BatchReader} → {@link BatchDispatcher}.
 *
 * <p><b>An update</b>: {@link EasyCacheEngine} → {@link Updates}, which decides when → {@link UpdatePhases} → the {@link CacheCluster}
 * of each key → {@link UpdatePreparation} before the commit, {@link InvalidationDelivery} after it.
 *
 * <p><b>An outage and its recovery</b>: every call of the store passes {@link GuardedStore}, which reports to the
 * {@link CircuitBreaker} of the key's master. While that is open, {@link FallbackReader} loads, and invalidations wait in
 * {@link PendingInvalidations}. The {@link RecoveryWorker} of the master probes it, has {@link Redelivery} deliver them and
 * {@link EpochUpkeep} raise epochs, and then closes the breaker.
 *
 * <p><b>The outbox</b>: {@link UpdatePreparation} → {@link OutboxWriter}, which records an update that Redis has not taken. Later
 * {@link OutboxRelay} on one node → {@link OutboxDelivery} → {@link OutboxEntries}, which invalidates the keys.
 */
@NullMarked
package io.easykit.cache.engine;

import org.jspecify.annotations.NullMarked;
