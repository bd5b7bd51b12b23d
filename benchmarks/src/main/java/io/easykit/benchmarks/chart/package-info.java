/** Draws the figures of {@code benchmarks/README.md}. */
@NullMarked
package io.easykit.benchmarks.chart;

import org.jspecify.annotations.NullMarked;
