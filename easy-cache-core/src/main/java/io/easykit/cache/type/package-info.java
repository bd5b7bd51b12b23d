/** Reflection on the types of keys and values. No type is API; all may change in any release. */
@NullMarked
package io.easykit.cache.type;

import org.jspecify.annotations.NullMarked;
