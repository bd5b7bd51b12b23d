/** The console's API of the cache. */
@NullMarked
package io.easykit.console.cache;

import org.jspecify.annotations.NullMarked;
