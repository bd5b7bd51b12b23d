package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.queue.node.Received;
import io.easykit.benchmarks.queue.node.SendOrder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Q7: many messages due at once for a few slow workers. All contenders run at the same time: counts, no speeds. */
public final class Workers {

    private static final int MESSAGES = 1_000;
    private static final int HANDLER_MILLIS = 100;
    private static final Duration LEAD = Duration.ofSeconds(10);

    /** Additional time beyond that of the handlers, also for second runs. */
    private static final Duration SLACK = Duration.ofSeconds(45);

    private static final List<QueueProduct> PRODUCTS = List.of(
            QueueProduct.DELAY_QUEUE,
            QueueProduct.DELAY_QUEUE_BATCHES,
            QueueProduct.DELAY_QUEUE_SHARDS,
            QueueProduct.REDISSON,
            QueueProduct.REDISSON_TUNED,
            QueueProduct.RQUEUE,
            QueueProduct.RQUEUE_TUNED);

    private Workers() {}

    /** Takes a {@link Size}. */
    public static void run(String... arguments) {
        Size size = Size.of(arguments);
        int messages = size.of(MESSAGES);
        Report.begin("Q7: " + messages + " due at once, handler " + HANDLER_MILLIS + " ms", size);
        System.out.println("One run, all contenders at the same time. Not run means: by " + SLACK.toSeconds() + " to "
                + 2 * SLACK.toSeconds() + " s after the handlers could have been done.\n");
        Report.header(List.of("workers", "contender", "settings", "run", "not run", "twice", "last began after s"));
        ExecutorService threads = Executors.newFixedThreadPool(PRODUCTS.size());
        for (int workers : List.of(1, 8)) {
            List<CompletableFuture<List<Object>>> rows = size.of(PRODUCTS).stream()
                    .map(product -> CompletableFuture.supplyAsync(() -> row(product, workers, messages), threads))
                    .toList();
            rows.forEach(row -> Report.row(row.join()));
        }
        threads.shutdown();
    }

    private static List<Object> row(QueueProduct product, int workers, int messages) {
        try (QueueProcess process = QueueProcess.listener(product, workers, HANDLER_MILLIS)) {
            long due = System.currentTimeMillis() + LEAD.toMillis();
            process.send(SendOrder.of(messages).inListsOf(100).dueAt(due));
            Duration busy = Duration.ofMillis((long) HANDLER_MILLIS * messages / workers);
            process.await(LEAD.plus(busy).plus(SLACK));
            // A second run would start after the lease (or its equivalent) of the first.
            QueueProcess.sleep(SLACK);
            Received received = process.await(Duration.ZERO);
            return List.of(
                    workers,
                    product.title(),
                    product.settings(),
                    received.messages(),
                    messages - received.messages(),
                    received.twice(),
                    String.format("%.1f", received.last() / 1e6 - due / 1e3));
        }
    }
}
