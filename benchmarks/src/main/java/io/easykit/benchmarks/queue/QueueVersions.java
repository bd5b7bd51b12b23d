package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Comparison;
import io.easykit.benchmarks.measure.Measured;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Version;
import io.easykit.benchmarks.queue.node.Received;
import io.easykit.benchmarks.queue.node.SendOrder;
import io.easykit.benchmarks.queue.node.Sent;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Q1, Q3 and Q4 of two versions of delay-queue, side by side. Q3 sends at a fixed rate here, so that both do the same
 * work.
 */
public final class QueueVersions {

    private static final int SENDS = 50_000;
    private static final List<Integer> BURSTS = List.of(1_000, 5_000, 20_000);
    private static final int FLOW_PER_SECOND = 6_000;
    private static final int FLOW_SECONDS = 6;
    private static final int SENDERS = 8;
    private static final int CONCURRENCY = 8;
    private static final long HOUR = Duration.ofHours(1).toMillis();
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final Comparison comparison;
    private final List<Version> versions;

    private QueueVersions(List<Version> versions) {
        this.versions = versions;
        this.comparison = new Comparison(versions);
    }

    public static void run(List<Version> versions) {
        QueueVersions queue = new QueueVersions(versions);
        queue.comparison.header();
        queue.compare(version -> QueueProcess.sender(QueueProduct.DELAY_QUEUE, version.classPath()), queue::sends);
        queue.compare(
                version -> QueueProcess.listener(QueueProduct.DELAY_QUEUE, version.classPath(), CONCURRENCY),
                (version, process) -> {
                    queue.flow(version, process);
                    BURSTS.forEach(messages -> queue.burst(version, process, messages));
                });
    }

    private void compare(Function<Version, QueueProcess> open, Round round) {
        Map<Version, QueueProcess> processes = new LinkedHashMap<>();
        try {
            for (Version version : versions) {
                QueueProcess process = open.apply(version);
                processes.put(version, process);
                process.warmUp();
            }
            for (int number = 0; number < Comparison.rounds(); number++) {
                comparison
                        .order(number)
                        .forEach(version -> round.run(version, Objects.requireNonNull(processes.get(version))));
            }
            comparison.print();
        } finally {
            processes.values().forEach(QueueProcess::close);
        }
    }

    private void sends(Version version, QueueProcess process) {
        for (int threads : List.of(1, SENDERS)) {
            process.flush();
            SendOrder order =
                    SendOrder.of(SENDS).fromThreads(threads).dueIn(HOUR).limitedTo(LIMIT.toMillis());
            QueueProcess.Use before = process.use();
            Sent sent = process.fill(order);
            Measured cost = process.since(before, sent.messages());
            String name = "q1, " + threads + (threads == 1 ? " thread" : " threads");
            add(name, version, cost);
            comparison.add(name + ": sends/s", version, sent.perSecond());
        }
        process.flush();
    }

    private void flow(Version version, QueueProcess process) {
        SendOrder order = SendOrder.of(FLOW_PER_SECOND * FLOW_SECONDS)
                .fromThreads(SENDERS)
                .dueIn(250)
                .perSecond(FLOW_PER_SECOND)
                .limitedTo(LIMIT.toMillis());
        QueueProcess.Use before = process.use();
        Sent sent = process.send(order);
        Received received = process.await(LIMIT);
        String name = "q3, " + FLOW_PER_SECOND + "/s";
        add(name, version, process.since(before, sent.messages()));
        comparison.add(name + ": late p99 ms", version, received.p99() / 1e3);
    }

    private void burst(Version version, QueueProcess process, int messages) {
        Burst burst = Burst.run(process, messages, LIMIT);
        String name = "q4, " + messages + " at once";
        add(name, version, burst.draining());
        comparison.add(
                name + ", sending in lists: " + RedisCost.heading(),
                version,
                burst.sending().redisCpu());
        comparison.add(name + ": first after ms", version, burst.received().least() / 1e3);
        comparison.add(name + ": messages/s", version, burst.perSecond());
    }

    private void add(String name, Version version, Measured cost) {
        comparison.add(name + ": " + RedisCost.heading() + " a message", version, cost.redisCpu());
        comparison.add(name + ": client CPU µs a message", version, cost.clientMicros());
    }

    /** The work of one version in one round. */
    private interface Round {
        void run(Version version, QueueProcess process);
    }
}
