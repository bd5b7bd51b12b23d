/**
 * Redis, Lettuce and Jedis support shared by easy-cache and delay-queue. Contains no product logic.
 *
 * <p>Of this package {@link DedicatedConnections} is for applications: it makes the connection factory of an engine that is built
 * without a starter. All other types are for the modules of this library, and may change in any release.
 */
@NullMarked
package io.easykit.redis;

import org.jspecify.annotations.NullMarked;
