/** What easy-cache and delay-queue both need from Lettuce, Jedis and Redis; no product logic. */
@NullMarked
package io.easykit.redis;

import org.jspecify.annotations.NullMarked;
