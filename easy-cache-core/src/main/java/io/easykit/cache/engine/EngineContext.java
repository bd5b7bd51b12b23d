package io.easykit.cache.engine;

import io.easykit.cache.CacheListener;
import io.easykit.cache.Transactions;
import java.util.concurrent.Executor;

/**
 * What the readers and updates of all clusters share.
 *
 * @param background where refreshes run; rejects what it has no thread for
 */
record EngineContext(
        ValueEnvelopes values, Transactions transactions, Executor background, CacheListener listener, Ticker ticker) {}
