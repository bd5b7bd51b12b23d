/**
 * The API of the cache: {@link io.easykit.cache.EasyCache}, its keys, options and exceptions. A Redis plugs in through {@code
 * io.easykit.cache.store}; the protocol is in {@code io.easykit.cache.engine}.
 */
@NullMarked
package io.easykit.cache;

import org.jspecify.annotations.NullMarked;
