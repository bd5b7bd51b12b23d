/** A delay queue in a separate process: the interface of contenders, the program around them, and its commands. */
@NullMarked
package io.easykit.benchmarks.queue.node;

import org.jspecify.annotations.NullMarked;
