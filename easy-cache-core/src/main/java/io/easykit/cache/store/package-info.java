/** What plugs into the cache below its engine: the Redis with the entries, the level in this JVM, the outbox. */
@NullMarked
package io.easykit.cache.store;

import org.jspecify.annotations.NullMarked;
