package io.easykit.sample.order;

/** A reason for which the closing of an order fails, if the order asks for it. */
public enum Fault {
    WAREHOUSE,
    PRICING,
    CARRIER
}
