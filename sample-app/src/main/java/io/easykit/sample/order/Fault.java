package io.easykit.sample.order;

/** A reason for which the closing of an order fails. It is chosen when the order is placed. */
public enum Fault {
    WAREHOUSE,
    PRICING,
    CARRIER
}
