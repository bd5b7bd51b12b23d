/** The local level on Caffeine. */
@NullMarked
package io.easykit.cache.caffeine;

import org.jspecify.annotations.NullMarked;
