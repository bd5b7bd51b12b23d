package io.easykit.sample.parcel;

import org.jspecify.annotations.Nullable;

/**
 * The parcel of a paid order.
 *
 * @param number number that the carrier has given to it; null until it is booked
 * @param problem why it could not be booked; null without a problem
 */
record Parcel(String orderId, State state, @Nullable String number, @Nullable String problem) {

    enum State {
        WAITING,
        BOOKED,
        FAILED
    }
}
