package io.easykit.delayqueue;

import java.util.List;

/** Some messages of many that were sent at once were not sent, were refused, or got no answer from the store. */
public final class BatchSendException extends DelayQueueException {

    private final transient List<SendResult> results;
    private final transient List<SendResult> unknown;

    BatchSendException(List<PreparedMessage> messages, DelayQueueException cause) {
        super(describe(messages, cause), cause);
        this.results = messages.stream().map(PreparedMessage::result).toList();
        this.unknown = messages.stream()
                .filter(PreparedMessage::isUnknown)
                .map(PreparedMessage::result)
                .toList();
    }

    private static String describe(List<PreparedMessage> messages, DelayQueueException cause) {
        long open =
                messages.stream().filter(message -> message.outcome() == null).count();
        long unknown = messages.stream().filter(PreparedMessage::isUnknown).count();
        return open + " of " + messages.size() + " messages have no outcome: " + (open - unknown)
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
