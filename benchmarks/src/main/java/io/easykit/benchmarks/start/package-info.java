/** The time and the work until an application is ready. */
@NullMarked
package io.easykit.benchmarks.start;

import org.jspecify.annotations.NullMarked;
