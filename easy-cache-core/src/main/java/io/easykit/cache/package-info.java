/**
 * The cache as one uses it ({@link io.easykit.cache.EasyCache}) and the protocol behind it
 * ({@link io.easykit.cache.CacheDispatcher} opens with its essay). Knows no Redis client and no Spring: a level is
 * plugged in through {@link io.easykit.cache.EntryStore} and {@link io.easykit.cache.LocalLevel}.
 */
@NullMarked
package io.easykit.cache;

import org.jspecify.annotations.NullMarked;
