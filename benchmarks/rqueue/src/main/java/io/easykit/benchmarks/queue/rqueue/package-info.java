/** rqueue as a contender, on the Spring Boot version it requires. */
@NullMarked
package io.easykit.benchmarks.queue.rqueue;

import org.jspecify.annotations.NullMarked;
