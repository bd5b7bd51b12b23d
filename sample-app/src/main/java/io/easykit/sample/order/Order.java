package io.easykit.sample.order;

import java.time.Instant;

/**
 * An order.
 *
 * @param expiresAt time at which it is closed unless it is paid
 */
public record Order(String id, long productId, int quantity, Status status, Instant expiresAt) {

    /** The states of an order. Only the first one ever changes. */
    public enum Status {
        PENDING_PAYMENT,
        PAID,
        CLOSED
    }

    String sku() {
        return "SKU-" + productId;
    }
}
