/** One delay queue in a process of its own: what it has to offer, the program around it, and what that program is told. */
@NullMarked
package io.easykit.benchmarks.queue.node;

import org.jspecify.annotations.NullMarked;
