/** The delay queues that are compared, each as its users would have it. */
@NullMarked
package io.easykit.benchmarks.queue.contender;

import org.jspecify.annotations.NullMarked;
