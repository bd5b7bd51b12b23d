package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.annotation.DelayListener;

/** A class of another package than its subclasses, such as one of a library. */
public abstract class PackagePrivateListener {

    @DelayListener(topic = "orders")
    void on(String order) {}
}
