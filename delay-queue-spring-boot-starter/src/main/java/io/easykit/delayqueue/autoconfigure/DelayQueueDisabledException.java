package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueException;

/** The delay queue is disabled by {@code delay-queue.enabled}. Nothing was sent or changed. */
public final class DelayQueueDisabledException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    DelayQueueDisabledException() {
        super(
                "The delay queue is disabled (delay-queue.enabled is false), so nothing was sent or changed."
                        + " Enable it, or set delay-queue.when-disabled to 'ignore' to discard messages silently.",
                null);
    }
}
