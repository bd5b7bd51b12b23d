/**
 * The actuator endpoint {@code delayqueue}: topics, messages and nodes over HTTP, and changes to them. No type is API; all may change
 * in any release. {@link MessageViews}, {@link QueueViews} and {@link QueueProblem} are public for the console of this library.
 */
@NullMarked
package io.easykit.delayqueue.actuate;

import org.jspecify.annotations.NullMarked;
