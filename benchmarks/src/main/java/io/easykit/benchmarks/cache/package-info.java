/** Benchmarks of easy-cache, C1 to C7. */
@NullMarked
package io.easykit.benchmarks.cache;

import org.jspecify.annotations.NullMarked;
