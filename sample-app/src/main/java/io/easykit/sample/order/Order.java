package io.easykit.sample.order;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order.
 *
 * @param expiresAt time at which it is closed unless it is paid
 * @param fault     fault on which its closing fails until it is fixed; null for none
 */
public record Order(String id, long productId, int quantity, Status status, Instant expiresAt, @Nullable Fault fault) {

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
