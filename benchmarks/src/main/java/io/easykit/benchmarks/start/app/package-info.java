/** The applications that are started. Each has a class path of its own, so these classes use nothing else of this module. */
@NullMarked
package io.easykit.benchmarks.start.app;

import org.jspecify.annotations.NullMarked;
