/** Both products on virtual threads. */
@NullMarked
package io.easykit.benchmarks.threads;

import org.jspecify.annotations.NullMarked;
