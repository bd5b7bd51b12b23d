/**
 * The engine behind {@link io.easykit.cache.EasyCache}. {@link io.easykit.cache.engine.EasyCacheEngine} builds it, and {@code
 * CacheDispatcher} opens with the essay on the protocol. It depends on no Redis client and not on Spring.
 */
@NullMarked
package io.easykit.cache.engine;

import org.jspecify.annotations.NullMarked;
