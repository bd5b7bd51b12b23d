package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Repetitions;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.queue.node.Received;
import io.easykit.benchmarks.queue.node.SendOrder;
import io.easykit.benchmarks.queue.node.Sent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Q6: lateness and bursts with a large backlog of messages for later times. */
public final class Backlogs {

    private static final List<Integer> PENDING = List.of(300_000, 1_000_000, 10_000_000);
    private static final int MOST_FOR_PEERS = 1_000_000;
    private static final List<Integer> BURSTS = List.of(5_000, 20_000, 100_000);
    private static final int CONCURRENCY = 8;
    private static final Duration FILL_LIMIT = Duration.ofMinutes(2);
    private static final Duration FILL_LIMIT_OF_OURS = Duration.ofMinutes(20);
    private static final Duration BURST_LIMIT = Duration.ofMinutes(1);
    private static final Repetitions LATENESS_REPETITIONS = new Repetitions(2, Duration.ofSeconds(30));
    private static final Repetitions BURST_REPETITIONS = new Repetitions(2, Duration.ofSeconds(10));

    private static final List<QueueProduct> PRODUCTS = List.of(
            QueueProduct.DELAY_QUEUE,
            QueueProduct.DELAY_QUEUE_BATCHES,
            QueueProduct.REDISSON,
            QueueProduct.RQUEUE_TUNED);

    private Backlogs() {}

    /** Takes a {@link Size}. */
    public static void run(String... arguments) {
        Size size = Size.of(arguments);
        Report.begin("Q6: as Q5 and Q4, with messages pending that are due in one hour", size);
        List<String> bursts = BURSTS.stream()
                .map(messages -> String.format("%,d due at once, per s", size.of(messages)))
                .toList();
        System.out.println(
                "Up to 2 runs of each cell. rqueue with its defaults is left out, see Q4 and Q5; so is Redisson"
                        + " tuned: what makes"
                        + " it slow here is the transfer of what is due, not the taking.\n");
        Report.header(List.of("pending", "contender", "settings", "filled in s"), Cells.LATENESS, bursts);
        for (int pending : PENDING) {
            for (QueueProduct product : size.of(PRODUCTS)) {
                if (pending <= MOST_FOR_PEERS || product == QueueProduct.DELAY_QUEUE) {
                    measure(product, size.of(pending), size);
                }
            }
        }
    }

    private static void measure(QueueProduct product, int pending, Size size) {
        List<Object> first = List.of(String.format("%,d", pending), product.title(), product.settings());
        try (QueueProcess process = QueueProcess.listener(product, CONCURRENCY, 0)) {
            process.warmUp();
            Duration limit = product == QueueProduct.DELAY_QUEUE ? FILL_LIMIT_OF_OURS : FILL_LIMIT;
            Sent sent = fill(process, pending, limit);
            if (sent.messages() < pending) {
                Report.row(first, List.of(Cells.didNotFinish(limit, sent.messages(), pending)));
                return;
            }
            Report.row(
                    first,
                    List.of(String.format("%.0f", sent.nanos() / 1e9)),
                    lateness(process, size),
                    bursts(process, size));
        }
    }

    private static Sent fill(QueueProcess process, int pending, Duration limit) {
        return process.fill(SendOrder.of(pending)
                .fromThreads(CONCURRENCY)
                .inListsOf(100)
                .dueIn(Duration.ofHours(1).toMillis())
                .spreadOver(Duration.ofMinutes(10).toMillis())
                .limitedTo(limit.toMillis()));
    }

    private static List<Object> lateness(QueueProcess process, Size size) {
        int messages = size.of(Punctuality.MESSAGES);
        List<Received> runs =
                LATENESS_REPETITIONS.of(() -> Punctuality.measure(process, size), run -> run.messages() == messages);
        return Cells.lateness(runs);
    }

    private static List<Object> bursts(QueueProcess process, Size size) {
        List<Object> cells = new ArrayList<>();
        boolean goesOn = true;
        for (int messages : BURSTS) {
            List<Burst> runs = goesOn
                    ? BURST_REPETITIONS.of(() -> Burst.run(process, size.of(messages), BURST_LIMIT), Burst::isComplete)
                    : List.of();
            goesOn = goesOn && runs.stream().allMatch(Burst::isComplete);
            cells.add(cell(runs));
        }
        return cells;
    }

    private static String cell(List<Burst> runs) {
        if (runs.isEmpty()) {
            return "not tried";
        }
        Burst last = runs.get(runs.size() - 1);
        return last.isComplete()
                ? Spread.of(runs, Burst::perSecond).text(0)
                : Cells.didNotFinish(BURST_LIMIT, last.received().messages(), last.messages());
    }
}
