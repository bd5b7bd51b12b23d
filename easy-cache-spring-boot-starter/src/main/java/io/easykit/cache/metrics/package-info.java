/** Meters and observations of the cache. No type is API; all may change in any release. */
@NullMarked
package io.easykit.cache.metrics;

import org.jspecify.annotations.NullMarked;
