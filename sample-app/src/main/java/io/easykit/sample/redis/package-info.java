/** The Redis that starts with the shop if none is configured. */
@NullMarked
package io.easykit.sample.redis;

import org.jspecify.annotations.NullMarked;
