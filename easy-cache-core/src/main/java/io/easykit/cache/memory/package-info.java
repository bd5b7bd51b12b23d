/**
 * A store in memory, for tests: the semantics of the store in Redis, in one process and without durability. A plug like
 * {@code redis}, which the engine does not depend on.
 *
 * <p>No type is API; all may change in any release.
 */
@NullMarked
package io.easykit.cache.memory;

import org.jspecify.annotations.NullMarked;
