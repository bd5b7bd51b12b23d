package io.easykit.cache.engine;

import io.easykit.cache.CacheListener;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.Transactions;
import java.util.concurrent.Executor;

/**
 * Shared by the readers and updates of all clusters.
 *
 * @param background executor of refreshes; may reject tasks
 * @param listener throws no exceptions, see {@link SafeListener}
 * @param observer throws no exceptions, see {@link SafeObserver}
 */
record EngineContext(
        ValueEnvelopes values,
        Transactions transactions,
        Executor background,
        CacheListener listener,
        LoadObserver observer,
        Ticker ticker) {}
