/**
 * A delay queue: messages delivered at a later moment, at least once.
 *
 * <p>This package holds what applications use; {@link io.easykit.delayqueue.DelayQueueTemplate} sends. {@code admin} is the API of
 * operators, and {@code support} has values that signatures of both use. {@code engine} does the work, {@code store} is the interface
 * behind which messages are stored, {@code redis} stores them in Redis, {@code memory} in memory for tests, and {@code jackson} encodes
 * payloads.
 */
@NullMarked
package io.easykit.delayqueue;

import org.jspecify.annotations.NullMarked;
