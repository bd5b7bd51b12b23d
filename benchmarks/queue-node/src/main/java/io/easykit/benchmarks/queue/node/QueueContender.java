package io.easykit.benchmarks.queue.node;

import java.util.List;

/** A delay queue, used as its users would. What it receives goes to the listener of its {@link Setup}. */
public interface QueueContender {

    void send(String queue, Message message);

    /** Sends many in as few trips as it can. */
    void sendAll(String queue, List<Message> messages);
}
