package io.easykit.benchmarks.start.app;

import io.easykit.delayqueue.annotation.DelayListener;

/** A bean that uses delay-queue. */
public class Orders {

    @DelayListener(topic = "close-order")
    public void close(String order) {}
}
