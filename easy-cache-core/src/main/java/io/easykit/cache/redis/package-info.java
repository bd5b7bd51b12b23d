/** Entries in Redis: one hash for each, one script for each operation. */
@NullMarked
package io.easykit.cache.redis;

import org.jspecify.annotations.NullMarked;
