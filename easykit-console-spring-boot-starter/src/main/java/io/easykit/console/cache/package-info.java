/** The console's API of the cache. No type is API; all may change in any release. */
@NullMarked
package io.easykit.console.cache;

import org.jspecify.annotations.NullMarked;
