/** Benchmarks of delay-queue, Q1 to Q10, and its peers. Each contender has its own process and Redis. */
@NullMarked
package io.easykit.benchmarks.queue;

import org.jspecify.annotations.NullMarked;
