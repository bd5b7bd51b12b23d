package io.easykit.delayqueue.observation;

/** How the span of a delivery relates to the span of the send. */
public enum Tracing {
    /** A delivery begins a trace of its own, with a link to the send. */
    LINK,
    /** A delivery is part of the trace of the send. */
    CHILD,
    /** Sends and deliveries are not observed, and messages get no header. */
    OFF
}
