package io.easykit.delayqueue;

/**
 * Receives the events of this node. Deaths, leases that are lost or expired, late results, results of runs that had lost their lease, and
 * alerts come one after the other on the thread {@code delay-queue-events}, the others on the threads that do the work. So it must return
 * soon. Exceptions are logged and ignored.
 */
public interface DelayQueueListener {

    /** Every event, before the method for its kind. */
    default void onEvent(DelayQueueEvent event) {}

    default void onSent(DelayQueueEvent.Sent event) {}

    default void onDelivered(DelayQueueEvent.Delivered event) {}

    default void onCompleted(DelayQueueEvent.Completed event) {}

    default void onRepeated(DelayQueueEvent.Repeated event) {}

    default void onFailed(DelayQueueEvent.Failed event) {}

    default void onDiscarded(DelayQueueEvent.Discarded event) {}

    default void onDied(DelayQueueEvent.Died event) {}

    default void onLeaseLost(DelayQueueEvent.LeaseLost event) {}

    default void onSettledLate(DelayQueueEvent.SettledLate event) {}

    default void onLeaseExpired(DelayQueueEvent.LeaseExpired event) {}

    default void onAlertRaised(DelayQueueEvent.AlertRaised event) {}

    default void onAlertResolved(DelayQueueEvent.AlertResolved event) {}
}
