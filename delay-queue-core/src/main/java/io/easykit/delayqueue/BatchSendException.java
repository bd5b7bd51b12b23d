package io.easykit.delayqueue;

import java.util.List;

/** Some messages of many that were sent at once have no answer from the store, or were refused. */
public final class BatchSendException extends DelayQueueException {

    private final transient List<SendResult> results;

    BatchSendException(List<SendResult> results, DelayQueueException cause) {
        super(
                results.stream().filter(SendResult::isPending).count() + " of " + results.size()
                        + " messages may not be stored. Send those without an outcome again, with own ids where a message"
                        + " must not be stored twice: " + cause.getMessage(),
                cause);
        this.results = List.copyOf(results);
    }

    /** For each message in the order of the call; without an outcome where the store gave none. */
    public List<SendResult> results() {
        return results;
    }
}
