/** Calls on threads of their own, for results that arrive later. */
@NullMarked
package io.easykit.cache.async;

import org.jspecify.annotations.NullMarked;
