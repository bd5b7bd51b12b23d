/** Measuring and printing for all benchmarks. */
@NullMarked
package io.easykit.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
