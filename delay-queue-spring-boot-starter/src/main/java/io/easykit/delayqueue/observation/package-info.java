/** Observations of sends and of calls of handlers, and their spans. */
@NullMarked
package io.easykit.delayqueue.observation;

import org.jspecify.annotations.NullMarked;
