package io.easykit.delayqueue.time;

import java.time.Duration;

/** Advances virtual time also within a task of it, as a call that takes time does. */
public final class NestedTime {

    private NestedTime() {}

    public static void advance(VirtualTime time, Duration duration) {
        while (!time.tryRun(duration)) {
            Thread.onSpinWait();
        }
    }
}
