/**
 * Time and the loops that run in it: threads in production, and virtual time that a test moves.
 *
 * <p>{@link DetachedThread} is for the modules of this library, and may change in any release.
 */
@NullMarked
package io.easykit.delayqueue.time;

import org.jspecify.annotations.NullMarked;
