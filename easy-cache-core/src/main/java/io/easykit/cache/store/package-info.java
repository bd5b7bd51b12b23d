/**
 * What plugs into the cache below its engine: the Redis with the entries, the level in this JVM, the outbox.
 *
 * <p>Meant for stores of your own. Types may change in a minor version, except for {@link Outbox}.
 */
@NullMarked
package io.easykit.cache.store;

import org.jspecify.annotations.NullMarked;
