package io.easykit.benchmarks.queue.node;

import java.util.List;

/** A delay queue, used as by its users. Received messages go to the listener of its {@link Setup}. */
public interface QueueContender {

    void send(String queue, Message message);

    /** Sends many messages in as few round trips as possible. */
    void sendAll(String queue, List<Message> messages);
}
