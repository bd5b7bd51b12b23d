/** Meters of the queue. No type is API; all may change in any release. */
@NullMarked
package io.easykit.delayqueue.metrics;

import org.jspecify.annotations.NullMarked;
