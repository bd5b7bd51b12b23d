/** The compared delay queues, each as in an application. */
@NullMarked
package io.easykit.benchmarks.queue.contender;

import org.jspecify.annotations.NullMarked;
