/** The compared caches, each behind a method of a bean, as in an application. */
@NullMarked
package io.easykit.benchmarks.cache.contender;

import org.jspecify.annotations.NullMarked;
