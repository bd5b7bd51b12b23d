package io.easykit.delayqueue.engine;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Settled messages on their way to the loop of their consumer, in their order. A message is added without allocating memory,
 * because one that could not be added would be neither reported nor released.
 */
final class SettledMessages {

    /** Each links to the one before it. */
    private final AtomicReference<@Nullable InFlightMessage> latest = new AtomicReference<>();

    /** Each links to the one after it. For the loop only. */
    private @Nullable InFlightMessage oldest;

    /** On any thread, once for each message. */
    void add(InFlightMessage message) {
        do {
            message.neighbor = latest.get();
        } while (!latest.compareAndSet(message.neighbor, message));
    }

    /** The oldest message, which stays until it is removed; null if there is none. */
    @Nullable InFlightMessage peek() {
        if (oldest == null) {
            InFlightMessage message = latest.getAndSet(null);
            while (message != null) {
                InFlightMessage before = message.neighbor;
                message.neighbor = oldest;
                oldest = message;
                message = before;
            }
        }
        return oldest;
    }

    /** Removes the message that {@link #peek} has returned. */
    void remove() {
        InFlightMessage first = Objects.requireNonNull(oldest);
        oldest = first.neighbor;
        first.neighbor = null;
    }
}
