/** The caches that are compared, each behind a method of a bean as its users would have it. */
@NullMarked
package io.easykit.benchmarks.cache.contender;

import org.jspecify.annotations.NullMarked;
