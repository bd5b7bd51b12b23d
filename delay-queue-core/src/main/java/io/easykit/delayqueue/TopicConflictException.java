package io.easykit.delayqueue;

/**
 * What is set for a topic contradicts what holds for it already: the shard count that the store has kept, or the settings of
 * another listener that runs. Says what to do about it.
 */
public final class TopicConflictException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    /** The two halves of the message: what contradicts what, and what to do. */
    public TopicConflictException(String problem, String remedy) {
        super(problem + " " + remedy, null);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** What contradicts what. */
    public String problem() {
        return problem;
    }

    public String remedy() {
        return remedy;
    }
}
