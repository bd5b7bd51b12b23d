/**
 * A delay queue: messages delivered at a later moment, at least once.
 *
 * <p>This package holds the API, the engine, and {@link io.easykit.delayqueue.QueueStore}, behind which the messages lie. It
 * knows nothing of Redis or Spring.
 */
@NullMarked
package io.easykit.delayqueue;

import org.jspecify.annotations.NullMarked;
