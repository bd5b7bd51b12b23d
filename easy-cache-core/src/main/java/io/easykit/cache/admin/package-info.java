/** Information about the cache for operators. Caching does not need it. */
@NullMarked
package io.easykit.cache.admin;

import org.jspecify.annotations.NullMarked;
