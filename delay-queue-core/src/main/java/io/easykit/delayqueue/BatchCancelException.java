package io.easykit.delayqueue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Some messages of many that were to be cancelled at once may still be delivered: the store refused, or did not answer. */
public final class BatchCancelException extends DelayQueueException {

    private final LinkedHashMap<String, ChangeOutcome> outcomes;
    private final ArrayList<String> unknown;

    /**
     * @param outcomes known outcomes by id, in the order of the call
     * @param unknown ids without an outcome, in the order of the call
     */
    public BatchCancelException(
            String topic, Map<String, ChangeOutcome> outcomes, List<String> unknown, DelayQueueException cause) {
        super(
                unknown.size() + " of " + (outcomes.size() + unknown.size()) + " messages to topic '" + topic
                        + "' have no outcome of their cancel: they may be cancelled or not. Cancel those again; one that"
                        + " this call has cancelled is GONE then: " + cause.getMessage(),
                cause);
        this.outcomes = new LinkedHashMap<>(outcomes);
        this.unknown = new ArrayList<>(unknown);
    }

    /** The known outcomes by id, in the order of the call. */
    public Map<String, ChangeOutcome> outcomes() {
        return new LinkedHashMap<>(outcomes);
    }

    /** Ids of the messages that may be cancelled or not, in the order of the call. */
    public List<String> unknown() {
        return List.copyOf(unknown);
    }
}
