/**
 * A delay queue: messages delivered at a later moment, at least once.
 *
 * <p>This package holds what applications use. {@code engine} does the work, {@code store} is the interface behind which
 * messages are stored, {@code redis} stores them in Redis, and {@code jackson} encodes payloads.
 */
@NullMarked
package io.easykit.delayqueue;

import org.jspecify.annotations.NullMarked;
