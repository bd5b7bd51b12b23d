package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Measured;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Repetitions;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.queue.node.Received;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Q4: bursts, and the speed at which an empty listener drains them. */
public final class Bursts {

    private static final List<Integer> MESSAGES = List.of(1_000, 5_000, 20_000, 100_000);
    private static final int CONCURRENCY = 8;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Repetitions REPETITIONS = new Repetitions(5, Duration.ofSeconds(25));

    private static final List<QueueProduct> PRODUCTS = List.of(
            QueueProduct.DELAY_QUEUE,
            QueueProduct.DELAY_QUEUE_BATCHES,
            QueueProduct.LETTUCE,
            QueueProduct.LETTUCE_BATCHES,
            QueueProduct.REDISSON,
            QueueProduct.REDISSON_TUNED,
            QueueProduct.RQUEUE,
            QueueProduct.RQUEUE_TUNED);

    private final Map<QueueProduct, Double> perSecond = new EnumMap<>(QueueProduct.class);
    private final Map<QueueProduct, String> gaveUp = new EnumMap<>(QueueProduct.class);

    private final List<String> ratios = new ArrayList<>();
    private final List<QueueProduct> products;

    private Bursts(List<QueueProduct> products) {
        this.products = products;
    }

    /** Takes a {@link Size}. */
    public static void run(String... arguments) {
        Size size = Size.of(arguments);
        Report.begin("Q4: due at the same millisecond, concurrency " + CONCURRENCY, size);
        System.out.println(
                "Costs are those of draining (claim and acknowledge); sending, in lists of 100, stands apart.\n");
        Report.header(
                List.of(
                        "due at once",
                        "contender",
                        "settings",
                        "runs",
                        "first after ms",
                        "drained in ms",
                        "per s",
                        "worst lateness ms"),
                Cells.COST,
                List.of(RedisCost.heading() + ", sending"));
        Bursts bursts = new Bursts(size.of(PRODUCTS));
        for (int messages : MESSAGES) {
            bursts.measure(size.of(messages));
        }
        System.out.println();
        bursts.ratios.forEach(ratio -> System.out.println("- " + ratio));
    }

    private void measure(int messages) {
        perSecond.clear();
        for (QueueProduct product : products) {
            if (gaveUp.containsKey(product)) {
                row(product, messages, 0, List.of("not tried: with less it " + gaveUp.get(product)));
            } else {
                measure(product, messages);
            }
        }
        noteRatios(messages, QueueProduct.DELAY_QUEUE);
        noteRatios(messages, QueueProduct.DELAY_QUEUE_BATCHES);
    }

    private void measure(QueueProduct product, int messages) {
        try (QueueProcess process = QueueProcess.listener(product, CONCURRENCY, 0)) {
            process.warmUp();
            List<Burst> runs = REPETITIONS.of(() -> Burst.run(process, messages, LIMIT), Burst::isComplete);
            Burst last = runs.get(runs.size() - 1);
            if (!last.isComplete()) {
                String failure = Cells.didNotFinish(LIMIT, last.received().messages(), messages);
                gaveUp.put(product, failure);
                row(product, messages, runs.size(), List.of(failure));
                return;
            }
            perSecond.put(product, Spread.of(runs, Burst::perSecond).median());
            List<Measured> draining = runs.stream().map(Burst::draining).toList();
            row(
                    product,
                    messages,
                    runs.size(),
                    List.of(
                            Cells.millis(runs.stream().map(Burst::received).toList(), Received::least),
                            Spread.of(runs, Burst::drainMillis).text(0),
                            Spread.of(runs, Burst::perSecond).text(0),
                            Cells.millis(runs.stream().map(Burst::received).toList(), Received::worst)),
                    Cells.cost(draining),
                    List.of(Spread.of(runs, run -> run.sending().redisCpu()).text(1)));
        }
    }

    private static void row(QueueProduct product, int messages, int runs, List<?> result) {
        row(product, messages, runs, result, List.of(), List.of());
    }

    private static void row(
            QueueProduct product, int messages, int runs, List<?> result, List<?> cost, List<?> sending) {
        List<Object> first = List.of(String.format("%,d", messages), product.title(), product.settings(), runs);
        Report.row(first, result, cost, sending);
    }

    /** Ratios to Redisson and to the lower bound in the same run. */
    private void noteRatios(int messages, QueueProduct ours) {
        Double own = perSecond.get(ours);
        if (own != null) {
            perSecond.forEach((other, rate) -> {
                if (!other.isOurs()) {
                    ratios.add(String.format(
                            "%,d due at once: %s drains at %.2f times the rate of %s",
                            messages, ours.title(), own / rate, other.title()));
                }
            });
        }
    }
}
