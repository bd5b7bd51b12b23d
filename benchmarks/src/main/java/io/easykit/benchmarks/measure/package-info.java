/** What every benchmark measures and prints with. */
@NullMarked
package io.easykit.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
