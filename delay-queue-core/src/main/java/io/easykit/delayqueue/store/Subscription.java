package io.easykit.delayqueue.store;

/** Ends with {@code close}, which may be repeated. */
public interface Subscription extends AutoCloseable {

    @Override
    void close();
}
