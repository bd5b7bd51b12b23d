package io.easykit.delayqueue;

import java.util.List;

/** Some messages of many that were sent at once were not sent, were refused, or got no answer from the store. */
public final class BatchSendException extends DelayQueueException {

    private final transient List<SendResult> results;
    private final transient List<SendResult> unknown;

    /**
     * @param results for each message in the order of the call
     * @param unknown those of them that were sent and got no answer
     */
    public BatchSendException(List<SendResult> results, List<SendResult> unknown, DelayQueueException cause) {
        super(describe(results, unknown.size(), cause), cause);
        this.results = List.copyOf(results);
        this.unknown = List.copyOf(unknown);
    }

    private static String describe(List<SendResult> results, int unknown, DelayQueueException cause) {
        long open = results.stream().filter(SendResult::isPending).count();
        return open + " of " + results.size() + " messages have no outcome: " + (open - unknown)
                + " are not stored, and "
                + unknown
                + " may be stored or not. Send those without an outcome again, with own ids where a message must"
                + " not be stored twice: " + cause.getMessage();
    }

    /** For each message in the order of the call; without an outcome where the store gave none. */
    public List<SendResult> results() {
        return results;
    }

    /** The messages that were sent and got no answer, so that they may be stored or not. */
    public List<SendResult> unknown() {
        return unknown;
    }
}
