@NullMarked
package io.easykit.delayqueue.redis;

import org.jspecify.annotations.NullMarked;
