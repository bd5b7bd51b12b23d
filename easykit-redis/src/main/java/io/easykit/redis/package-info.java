/** Redis, Lettuce and Jedis support shared by easy-cache and delay-queue. Contains no product logic. */
@NullMarked
package io.easykit.redis;

import org.jspecify.annotations.NullMarked;
