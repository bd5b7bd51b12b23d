package io.easykit.benchmarks.queue.node;

import java.util.List;
import java.util.function.Consumer;

/**
 * The environment of a contender.
 *
 * @param queues queues to send to and to listen to
 * @param concurrency calls of the listener at a time for each queue; 0 for a process that only sends
 * @param listener receives the text of a message
 */
public record Setup(String host, int port, List<String> queues, int concurrency, Consumer<String> listener) {

    public boolean listens() {
        return concurrency > 0;
    }
}
