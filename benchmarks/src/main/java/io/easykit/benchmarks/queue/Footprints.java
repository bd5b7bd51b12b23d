package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.queue.node.SendOrder;
import io.easykit.benchmarks.queue.node.Sent;
import java.time.Duration;
import java.util.List;

/** Q9: the memory of a pending message of 140 bytes in Redis. A count, not a time. */
public final class Footprints {

    private static final int MESSAGES = 100_000;

    /** Buffers of connections shrink within seconds. */
    private static final Duration REST = Duration.ofSeconds(3);

    private static final List<QueueProduct> PRODUCTS = List.of(
            QueueProduct.DELAY_QUEUE,
            QueueProduct.DELAY_QUEUE_SHARDS,
            QueueProduct.REDISSON,
            QueueProduct.REDISSON_TUNED,
            QueueProduct.RQUEUE,
            QueueProduct.RQUEUE_TUNED);

    private Footprints() {}

    /** Takes a {@link Size}. */
    public static void run(String... arguments) {
        Size size = Size.of(arguments);
        int messages = size.of(MESSAGES);
        Report.begin("Q9: memory of " + messages + " pending messages of 140 bytes", size);
        Report.header(List.of("contender", "settings", "bytes a message"));
        for (QueueProduct product : size.of(PRODUCTS)) {
            try (QueueProcess process = QueueProcess.sender(product)) {
                fill(process, 1_000);
                process.flush();
                fill(process, 1);
                QueueProcess.sleep(REST);
                long before = process.usedMemory();
                Sent sent = fill(process, messages);
                QueueProcess.sleep(REST);
                long bytes = process.usedMemory() - before;
                Report.row(List.of(product.title(), product.settings(), bytes / sent.messages()));
            }
        }
    }

    private static Sent fill(QueueProcess process, int messages) {
        return process.fill(SendOrder.of(messages)
                .fromThreads(8)
                .inListsOf(100)
                .dueIn(Duration.ofHours(1).toMillis())
                .spreadOver(Duration.ofHours(1).toMillis()));
    }
}
