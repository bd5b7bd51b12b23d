/**
 * The engine behind {@link io.easykit.cache.EasyCache}. {@link io.easykit.cache.engine.EasyCacheEngine} builds it. It depends
 * on no Redis client and not on Spring.
 *
 * <p>A read goes from {@code EasyCacheEngine} to the {@code CacheCluster} of its key, and there through two {@code
 * CacheReader}s: {@code FallbackReader}, which goes on without Redis, and {@code CacheDispatcher}, which opens with the essay
 * on the protocol. The dispatcher reads the entry ({@code StoredEntries}). On a miss {@code SingleFlight} lets one reader of
 * this JVM load and store ({@code StoredLoads}); loads that may not be stored are {@code UncachedLoads}. Every call of the
 * store passes {@code GuardedStore}, which reports to the {@code CircuitBreaker} of the key's master.
 *
 * <p>An update: {@code EasyCacheEngine.update}, then {@code Updates}, then {@code CacheCluster}: {@code UpdatePreparation}
 * before the commit, {@code InvalidationDelivery} after it. What cannot be delivered waits in {@code PendingInvalidations} for
 * the {@code RecoveryWorker} of its master.
 */
@NullMarked
package io.easykit.cache.engine;

import org.jspecify.annotations.NullMarked;
