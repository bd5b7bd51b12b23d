/**
 * Finds annotated methods, checks them, and runs them as listeners.
 *
 * <p>Only {@link DelayListenerRegistry} is API; the others may change in any release.
 */
@NullMarked
package io.easykit.delayqueue.listener;

import org.jspecify.annotations.NullMarked;
