package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueException;

/** The delay queue is switched off by {@code delay-queue.enabled}. Nothing was sent or changed. */
public final class DelayQueueDisabledException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    DelayQueueDisabledException() {
        super(
                "The delay queue is switched off (delay-queue.enabled is false), so nothing was sent or changed. Switch it"
                        + " on, or set delay-queue.when-disabled to 'ignore' if sends may be lost in silence.",
                null);
    }
}
