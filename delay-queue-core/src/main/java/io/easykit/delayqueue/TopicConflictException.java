package io.easykit.delayqueue;

/**
 * The settings of a topic contradict those in force: the shard count that the store keeps, or the settings of another running
 * listener. The message names the remedy.
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
