/** The actuator endpoint {@code delayqueue}: topics, messages and nodes over HTTP, and changes to them. */
@NullMarked
package io.easykit.delayqueue.actuate;

import org.jspecify.annotations.NullMarked;
