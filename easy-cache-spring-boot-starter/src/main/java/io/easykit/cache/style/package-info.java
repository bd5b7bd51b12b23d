/** How methods return their results: at once, by a future, or by a publisher. */
@NullMarked
package io.easykit.cache.style;

import org.jspecify.annotations.NullMarked;
