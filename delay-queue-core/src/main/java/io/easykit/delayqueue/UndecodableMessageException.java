package io.easykit.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * A message cannot be read: its envelope is damaged, its body was deleted, or the codec cannot decode the payload. A
 * {@link PayloadCodec} may throw it, with a text that does not quote the payload.
 *
 * <p>In a listener it is a failed run. By default the message is retried as after any other failed run, because a node of another
 * version may be able to read it. {@code no-retry-for} with this class makes it dead at once. A message whose body was deleted is
 * always dead at once.
 */
public class UndecodableMessageException extends DelayQueueException {

    public UndecodableMessageException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
