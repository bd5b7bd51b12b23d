package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Measured;
import io.easykit.benchmarks.queue.node.Received;
import io.easykit.benchmarks.queue.node.SendOrder;
import io.easykit.benchmarks.queue.node.Sent;
import java.time.Duration;
import java.util.List;

/**
 * Q3: messages sent separately and received at the same time. The maximum is the number received per second while eight
 * threads send as fast as possible, with a limited number of outstanding messages: in each search twice the number
 * received per second in the previous one. A minute at four fifths of the maximum follows.
 */
public final class Flows {

    private static final long DELAY_MILLIS = 250;
    private static final int SENDERS = 8;
    private static final int CONCURRENCY = 8;
    private static final long SEARCH_MILLIS = 5_000;
    private static final int SEARCHES = 5;
    private static final int FEW = 500;
    private static final long FLOW_MILLIS = 60_000;
    private static final int MOST_PER_SECOND = 200_000;
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static final List<QueueProduct> PRODUCTS = List.of(
            QueueProduct.DELAY_QUEUE,
            QueueProduct.DELAY_QUEUE_BATCHES,
            QueueProduct.REDISSON,
            QueueProduct.REDISSON_TUNED,
            QueueProduct.RQUEUE,
            QueueProduct.RQUEUE_TUNED);

    private Flows() {}

    /** Takes a {@link Size}. */
    public static void run(String... arguments) {
        Size size = Size.of(arguments);
        Report.begin("Q3: sent one by one and received for 60 s, at 80 % of the maximum, delay 250 ms", size);
        System.out.println("One run. Costs are those of everything: send, claim and acknowledge.\n");
        Report.header(
                List.of("contender", "settings", "maximum/s", "sent/s", "sent", "received"),
                Cells.LATENESS,
                Cells.COST,
                List.of("which"));
        for (QueueProduct product : size.of(PRODUCTS)) {
            try (QueueProcess process = QueueProcess.listener(product, CONCURRENCY, 0)) {
                process.warmUp();
                measure(product, process, size);
            }
        }
    }

    private static void measure(QueueProduct product, QueueProcess process, Size size) {
        double maximum = maximum(process, size.ofMillis(SEARCH_MILLIS));
        int perSecond = Math.max(1, (int) (maximum * 0.8));
        long millis = size.ofMillis(FLOW_MILLIS);
        SendOrder order = SendOrder.of(Math.max(1, (int) (perSecond * millis / 1_000)))
                .fromThreads(SENDERS)
                .dueIn(DELAY_MILLIS)
                .perSecond(perSecond);
        QueueProcess.Use before = process.use();
        Sent sent = process.send(order.limitedTo(2 * millis));
        Received received = process.await(LIMIT);
        Measured cost = process.since(before, sent.messages());
        Report.row(
                List.of(
                        product.title(),
                        product.settings(),
                        String.format("%,.0f", maximum),
                        String.format("%,.0f", sent.perSecond()),
                        String.format("%,d", sent.messages()),
                        String.format("%,d", received.messages())),
                Cells.lateness(List.of(received)),
                Cells.cost(List.of(cost)),
                List.of(cost.redis().callsPer(sent.messages())));
    }

    private static double maximum(QueueProcess process, long millis) {
        double before = 0;
        double now = received(process, millis, FEW);
        for (int i = 1; i < SEARCHES && now > 1.1 * before; i++) {
            before = Math.max(before, now);
            now = received(process, millis, FEW + (int) (2 * now));
        }
        return Math.max(before, now);
    }

    /** Returns messages per second. */
    private static double received(QueueProcess process, long millis, int outstanding) {
        Sent sent = process.send(SendOrder.of((int) (MOST_PER_SECOND * Math.max(1, millis / 1_000)))
                .fromThreads(SENDERS)
                .dueIn(DELAY_MILLIS)
                .withOutstanding(outstanding)
                .limitedTo(millis));
        Received received = process.await(LIMIT);
        if (received.messages() < sent.messages()) {
            throw new IllegalStateException(
                    "Of " + sent.messages() + " only " + received.messages() + " were received in " + LIMIT);
        }
        return sent.runPerSecond();
    }
}
