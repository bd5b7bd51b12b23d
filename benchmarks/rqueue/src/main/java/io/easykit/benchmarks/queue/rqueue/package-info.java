/** rqueue as a contender, on the Spring Boot that it needs. */
@NullMarked
package io.easykit.benchmarks.queue.rqueue;

import org.jspecify.annotations.NullMarked;
