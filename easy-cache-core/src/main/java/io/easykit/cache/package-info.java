/**
 * The cache as applications use it: {@link io.easykit.cache.EasyCache}, its keys and options, and what it throws. A Redis
 * plugs in through {@code io.easykit.cache.store}; the protocol is in {@code io.easykit.cache.engine}.
 */
@NullMarked
package io.easykit.cache;

import org.jspecify.annotations.NullMarked;
