package io.easykit.delayqueue;

import io.easykit.delayqueue.SendResult.Replication;
import io.easykit.delayqueue.support.LogText;
import java.util.List;
import java.util.Objects;

/**
 * Messages of a transaction are stored, but fewer replicas than wanted have confirmed them in time. They are lost only if their
 * master fails before its replicas have them. Do not send them again with other ids: they would be delivered twice.
 *
 * <p>Thrown before the commit, the transaction rolls back, and the messages are cancelled. Thrown after it, they are delivered.
 * Sends without a transaction do not throw this: {@link SendResult#isUnderReplicated()} returns true then.
 */
public final class NotReplicatedException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final transient List<SendResult> results;

    /** @param results the messages that too few replicas have confirmed */
    public NotReplicatedException(List<SendResult> results) {
        super(describe(results), null);
        this.results = List.copyOf(results);
    }

    private static String describe(List<SendResult> results) {
        SendResult first = results.get(0);
        Replication replication = Objects.requireNonNull(first.replication());
        return results.size() + " messages are stored, but too few replicas have confirmed them in time; of "
                + LogText.of(first.id()) + " of topic " + first.topic() + " " + replication.confirmed() + " of "
                + replication.wanted()
                + ". They are delivered, unless their transaction rolls back. Do not send them again with other ids.";
    }

    /** The messages that too few replicas have confirmed. */
    public List<SendResult> results() {
        return results;
    }
}
