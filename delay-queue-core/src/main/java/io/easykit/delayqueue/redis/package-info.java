/** The queue's state in Redis: keys, Lua scripts, and the store that calls them. */
@NullMarked
package io.easykit.delayqueue.redis;

import org.jspecify.annotations.NullMarked;
