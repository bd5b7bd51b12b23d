package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Measured;
import io.easykit.benchmarks.measure.Repetitions;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.queue.node.SendOrder;
import io.easykit.benchmarks.queue.node.Sent;
import java.time.Duration;
import java.util.List;

/** Q1 and Q2: sends of messages that are due in an hour, separately and in lists. */
public final class Sends {

    private static final int MESSAGES = 100_000;
    private static final int LIST = 100;
    private static final long HOUR = Duration.ofHours(1).toMillis();
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Repetitions REPETITIONS = new Repetitions(5, Duration.ofSeconds(30));

    /** Settings of listeners make no difference here. */
    private static final List<QueueProduct> SINGLE =
            List.of(QueueProduct.DELAY_QUEUE, QueueProduct.REDISSON, QueueProduct.REDISSON_TUNED, QueueProduct.RQUEUE);

    private static final List<QueueProduct> IN_LISTS =
            List.of(QueueProduct.DELAY_QUEUE, QueueProduct.REDISSON, QueueProduct.REDISSON_TUNED);

    private Sends() {}

    /** Q1, with a {@link Size}. */
    public static void oneByOne(String... arguments) {
        Size size = Size.of(arguments);
        Report.begin("Q1: " + size.of(MESSAGES) + " sends, delay 1 h", size);
        header();
        for (int threads : List.of(1, 8)) {
            for (QueueProduct product : size.of(SINGLE)) {
                row(product, SendOrder.of(size.of(MESSAGES)).fromThreads(threads));
            }
        }
    }

    /** Q2, with a {@link Size}. */
    public static void inLists(String... arguments) {
        Size size = Size.of(arguments);
        Report.begin("Q2: " + size.of(MESSAGES) + " sends in lists of " + LIST + ", delay 1 h", size);
        header();
        for (QueueProduct product : size.of(IN_LISTS)) {
            row(product, SendOrder.of(size.of(MESSAGES)).inListsOf(LIST));
        }
        System.out.println("\nrqueue has no call for several messages.");
    }

    private static void header() {
        Report.header(List.of("contender", "settings", "threads", "runs", "sends/s"), Cells.COST);
    }

    private static void row(QueueProduct product, SendOrder order) {
        try (QueueProcess process = QueueProcess.sender(product)) {
            process.warmUp();
            List<Run> runs = REPETITIONS.of(() -> run(process, order), run -> run.sent.failed() == 0);
            Report.row(
                    List.of(
                            product.title(),
                            product.settings(),
                            order.threads(),
                            runs.size(),
                            Spread.of(runs, run -> run.sent.perSecond()).text(0)),
                    Cells.cost(runs.stream().map(Run::cost).toList()));
        }
    }

    private static Run run(QueueProcess process, SendOrder order) {
        process.flush();
        QueueProcess.Use before = process.use();
        Sent sent = process.fill(order.dueIn(HOUR).limitedTo(LIMIT.toMillis()));
        return new Run(sent, process.since(before, sent.messages()));
    }

    private record Run(Sent sent, Measured cost) {}
}
