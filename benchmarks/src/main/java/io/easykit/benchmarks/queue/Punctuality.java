package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Repetitions;
import io.easykit.benchmarks.queue.node.Received;
import io.easykit.benchmarks.queue.node.SendOrder;
import java.time.Duration;
import java.util.List;

/** Q5: occasional messages on an idle system. */
public final class Punctuality {

    static final int MESSAGES = 300;

    private static final long WITHIN_MILLIS = 10_000;
    private static final long LEAD_MILLIS = 2_000;
    private static final int CONCURRENCY = 8;
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Repetitions REPETITIONS = new Repetitions(3, Duration.ofSeconds(40));

    private static final List<QueueProduct> PRODUCTS = List.of(
            QueueProduct.DELAY_QUEUE,
            QueueProduct.REDISSON,
            QueueProduct.REDISSON_TUNED,
            QueueProduct.RQUEUE,
            QueueProduct.RQUEUE_TUNED);

    private Punctuality() {}

    /** Takes a {@link Size}. */
    public static void run(String... arguments) {
        Size size = Size.of(arguments);
        Report.begin("Q5: " + size.of(MESSAGES) + " messages within 10 s, nothing else to do", size);
        Report.header(List.of("contender", "settings", "runs", "received"), Cells.LATENESS);
        for (QueueProduct product : size.of(PRODUCTS)) {
            try (QueueProcess process = QueueProcess.listener(product, CONCURRENCY, 0)) {
                process.warmUp();
                List<Received> runs =
                        REPETITIONS.of(() -> measure(process, size), run -> run.messages() == size.of(MESSAGES));
                Report.row(
                        List.of(
                                product.title(),
                                product.settings(),
                                runs.size(),
                                runs.get(runs.size() - 1).messages()),
                        Cells.lateness(runs));
            }
        }
    }

    /** Sends them in random order of their due times, and waits for them. */
    static Received measure(QueueProcess process, Size size) {
        process.send(SendOrder.of(size.of(MESSAGES))
                .dueAt(System.currentTimeMillis() + LEAD_MILLIS)
                .spreadOver(size.ofMillis(WITHIN_MILLIS)));
        return process.await(LIMIT);
    }
}
