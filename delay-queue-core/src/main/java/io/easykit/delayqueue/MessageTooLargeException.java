package io.easykit.delayqueue;

import io.easykit.delayqueue.support.LogText;

/** A message is larger than the queue takes. Nothing was sent. */
public final class MessageTooLargeException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    /** A message of so many bytes, and the maximum. */
    public MessageTooLargeException(String topic, int bytes, int limit) {
        super(
                "A message to topic '" + LogText.of(topic) + "' has " + bytes + " bytes, and the limit is " + limit
                        + ": it was not sent. Keep large contents elsewhere, such as in a table or an object store, and send"
                        + " their key; or raise delay-queue.max-message-size (maxMessageBytes of the engine's builder), and"
                        + " with it the command timeout, within which a message has to pass the line.",
                null);
    }
}
