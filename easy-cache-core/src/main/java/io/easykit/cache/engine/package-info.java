/**
 * The engine behind {@link io.easykit.cache.EasyCache}: {@link io.easykit.cache.engine.EasyCacheEngine} puts it together, and
 * {@code CacheDispatcher} opens with the essay on the protocol. Knows no Redis client and no Spring.
 */
@NullMarked
package io.easykit.cache.engine;

import org.jspecify.annotations.NullMarked;
