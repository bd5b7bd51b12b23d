/** Observations of sends and of calls of handlers, and their spans. No type is API; all may change in any release. */
@NullMarked
package io.easykit.delayqueue.observation;

import org.jspecify.annotations.NullMarked;
