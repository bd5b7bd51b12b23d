/** Comparative measurements; see the README of this module. */
@NullMarked
package io.easykit.benchmarks;

import org.jspecify.annotations.NullMarked;
