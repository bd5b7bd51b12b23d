/** Benchmarks of delay-queue, Q1 to Q10, beside its peers; each contender in a process and with a Redis of its own. */
@NullMarked
package io.easykit.benchmarks.queue;

import org.jspecify.annotations.NullMarked;
