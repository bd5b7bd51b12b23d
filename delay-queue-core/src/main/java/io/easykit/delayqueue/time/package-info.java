/** Time and the loops that run in it: threads in production, and virtual time that a test moves. */
@NullMarked
package io.easykit.delayqueue.time;

import org.jspecify.annotations.NullMarked;
