package io.easykit.delayqueue.admin;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The relay that stores the messages of the outbox in the queue. */
public interface OutboxAdmin {

    /** Starts the relay. Does nothing if it runs already. */
    void start();

    /** Ends the present pass, gives up the leases, and waits until this is done, at most for the given time. */
    void stop(Duration timeout);

    /** The messages in the outbox, counted every ten seconds; null if they could not be counted. */
    @Nullable Stats stats();

    /**
     * Messages in the outbox, of all nodes.
     *
     * @param waiting rows that are committed and not yet stored in the queue
     * @param oldest  age of the oldest of them; zero if there is none
     * @param refused topics whose messages the store refuses; this node tries them again every 30 seconds
     */
    record Stats(long waiting, Duration oldest, int refused) {}
}
