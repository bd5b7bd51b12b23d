package io.easykit.redis;

import java.time.Duration;

/** Measures how long one server has not replied. Any reply counts, including an error. */
final class ReplyWatch {

    private static final long ANSWERED = 0;

    private final String server;

    /** Time at which the first unanswered command was sent, from {@link System#nanoTime}. */
    private volatile long unansweredSince = ANSWERED;

    /** @param server from {@link ClusterTopology#serverOf} */
    ReplyWatch(String server) {
        this.server = server;
    }

    String server() {
        return server;
    }

    void answered() {
        if (unansweredSince != ANSWERED) {
            unansweredSince = ANSWERED;
        }
    }

    /**
     * Records a command without a reply.
     *
     * @param sent time at which it was sent, from {@link System#nanoTime}
     * @return time since the first command without a reply
     */
    Duration unanswered(long sent) {
        long since = unansweredSince;
        if (since == ANSWERED) {
            since = sent == ANSWERED ? 1 : sent;
            unansweredSince = since;
        }
        return Duration.ofNanos(System.nanoTime() - since);
    }
}
