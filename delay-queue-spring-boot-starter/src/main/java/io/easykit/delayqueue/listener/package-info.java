/** Finds annotated methods, checks them, and runs them as listeners. */
@NullMarked
package io.easykit.delayqueue.listener;

import org.jspecify.annotations.NullMarked;
