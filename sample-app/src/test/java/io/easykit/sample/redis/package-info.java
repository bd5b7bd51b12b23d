@NullMarked
package io.easykit.sample.redis;

import org.jspecify.annotations.NullMarked;
