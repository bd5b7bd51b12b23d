package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Measured;
import java.time.Duration;
import java.util.List;

/** Q10: fifty queues without messages. */
public final class IdleTopics {

    private static final int QUEUES = 50;
    private static final Duration REST = Duration.ofSeconds(5);

    /** All that is done once a minute is in it, and in the sample before it. */
    private static final long MILLIS = 60_000;

    private static final List<QueueProduct> PRODUCTS = List.of(
            QueueProduct.DELAY_QUEUE,
            QueueProduct.DELAY_QUEUE_SHARDS,
            QueueProduct.REDISSON,
            QueueProduct.RQUEUE,
            QueueProduct.RQUEUE_TUNED);

    private IdleTopics() {}

    /** Takes a {@link Size}. */
    public static void run(String... arguments) {
        Size size = Size.of(arguments);
        long millis = size.ofMillis(MILLIS);
        Report.begin("Q10: " + QUEUES + " idle queues for " + millis / 1_000 + " s, concurrency 1", size);
        System.out.println(
                "One run. Sharded, each queue has four shards; a shard is what the others have a queue for.\n");
        Report.header(List.of(
                "contender",
                "settings",
                "calls/s",
                "commands/s",
                "calls/s a shard",
                "Redis CPU ms/s",
                "client CPU ms/s",
                "per s"));
        for (QueueProduct product : size.of(PRODUCTS)) {
            try (QueueProcess process = QueueProcess.ofQueues(product, QUEUES)) {
                QueueProcess.sleep(REST);
                process.learnShares(() -> QueueProcess.sleep(Duration.ofMillis(millis)));
                QueueProcess.Use before = process.use();
                QueueProcess.sleep(Duration.ofMillis(millis));
                print(product, process.since(before, 1), millis / 1e3);
            }
        }
    }

    private static void print(QueueProduct product, Measured idle, double seconds) {
        int shards = QUEUES * product.shards();
        Report.row(List.of(
                product.title(),
                product.settings(),
                Cells.number(idle.calls() / seconds),
                Cells.number(idle.commands() / seconds),
                Cells.number(idle.calls() / seconds / shards),
                Cells.number(idle.redisCpu() / 1e3 / seconds),
                Cells.number(idle.clientMicros() / 1e3 / seconds),
                idle.redis().callsPer(Math.round(seconds))));
    }
}
