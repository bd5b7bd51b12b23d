package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.DelayQueueException;
import java.util.Collection;
import java.util.TreeSet;

/** A topic that was never used, such as a mistyped one. The message names those that were. */
public final class UnknownTopicException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    /** @param used the topics that were ever used */
    public UnknownTopicException(String topic, Collection<String> used) {
        this("Topic '" + topic + "' was never used.", "Check the name. Topics that were used: " + new TreeSet<>(used));
    }

    private UnknownTopicException(String problem, String remedy) {
        super(problem + " " + remedy, null);
        this.problem = problem;
        this.remedy = remedy;
    }

    public String problem() {
        return problem;
    }

    public String remedy() {
        return remedy;
    }
}
