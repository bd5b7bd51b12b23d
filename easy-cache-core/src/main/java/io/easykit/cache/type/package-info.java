/** Reflection on the types of keys and values. */
@NullMarked
package io.easykit.cache.type;

import org.jspecify.annotations.NullMarked;
