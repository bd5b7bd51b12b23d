package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.annotation.DelayListener;

/** As {@link PackagePrivateListener}, with a method that each subclass can override. */
public abstract class ProtectedListener {

    @DelayListener(topic = "orders")
    protected void on(String order) {}
}
