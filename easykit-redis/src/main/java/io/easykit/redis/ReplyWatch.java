package io.easykit.redis;

import java.time.Duration;

/** For how long one server has not answered. A reply of any kind, also an error, is an answer. */
final class ReplyWatch {

    private static final long ANSWERED = 0;

    /** Time at which the first unanswered command was sent, by {@link System#nanoTime}. */
    private volatile long unansweredSince = ANSWERED;

    void answered() {
        if (unansweredSince != ANSWERED) {
            unansweredSince = ANSWERED;
        }
    }

    /**
     * Records a command without an answer.
     *
     * @param sent time at which it was sent, by {@link System#nanoTime}
     * @return for how long nothing was answered
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
