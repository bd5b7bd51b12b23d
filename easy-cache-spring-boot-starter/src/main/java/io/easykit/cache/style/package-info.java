/** How methods return their results: at once, by a future, or by a publisher. No type is API; all may change in any release. */
@NullMarked
package io.easykit.cache.style;

import org.jspecify.annotations.NullMarked;
