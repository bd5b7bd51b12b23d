package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Measured;
import io.easykit.benchmarks.queue.node.Received;
import io.easykit.benchmarks.queue.node.SendOrder;
import io.easykit.benchmarks.queue.node.Sent;
import java.time.Duration;

/**
 * Messages that are all due at the same millisecond.
 *
 * @param messages number of messages
 * @param received results until the limit
 * @param due due time, in ms since the epoch
 * @param sending cost of sending them in lists, with idle listeners
 * @param draining cost of receiving them
 */
record Burst(int messages, Received received, long due, Measured sending, Measured draining) {

    /** Minimum time before the due time, so that all messages are sent in time. Slower contenders get more. */
    private static final Duration LEAD = Duration.ofSeconds(2);

    private static final int SENDERS = 8;
    private static final int LIST = 100;
    private static final int TRIAL = 300;

    boolean isComplete() {
        return received.messages() == messages;
    }

    double perSecond() {
        return messages / (drainMillis() / 1e3);
    }

    /** Time from the due time to the start of the last handler. */
    double drainMillis() {
        return received.last() / 1e3 - due;
    }

    /** Sends and drains, up to the limit. Retries with more time if the contender was too slow in sending. */
    static Burst run(QueueProcess process, int messages, Duration limit) {
        double microsEach = messages <= TRIAL ? 1_000 : microsEach(process, limit);
        while (true) {
            long lead = LEAD.toMillis() + (long) (messages * microsEach / 1e3 * 1.5);
            long due = System.currentTimeMillis() + lead;
            SendOrder order = SendOrder.of(messages)
                    .fromThreads(SENDERS)
                    .inListsOf(LIST)
                    .dueAt(due)
                    .limitedTo(Duration.ofMinutes(10).toMillis());
            QueueProcess.Use before = process.use();
            Sent sent = process.send(order);
            if (sent.failed() > 0) {
                throw new IllegalStateException(sent.failed() + " sends failed; the error is above");
            }
            Measured sending = process.since(before, messages);
            boolean inTime = System.currentTimeMillis() < due - LEAD.toMillis() / 4;
            QueueProcess.Use filled = process.use();
            Received received = process.await(limit.plusMillis(Math.max(0, due - System.currentTimeMillis())));
            if (inTime || received.messages() < messages) {
                return new Burst(
                        messages, received, due, sending, process.since(filled, Math.max(1, received.messages())));
            }
            microsEach = sent.nanos() / 1e3 / messages * 1.5;
        }
    }

    /** Measures the duration of a send of this contender by a small burst. */
    private static double microsEach(QueueProcess process, Duration limit) {
        long due = System.currentTimeMillis() + LEAD.toMillis();
        Sent sent = process.send(
                SendOrder.of(TRIAL).fromThreads(SENDERS).inListsOf(LIST).dueAt(due));
        process.await(limit.plus(LEAD));
        return sent.nanos() / 1e3 / TRIAL;
    }
}
