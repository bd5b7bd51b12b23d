package io.easykit.benchmarks.queue.node;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/** The runs of the messages of one {@link SendOrder}. */
final class Round {

    final int id;
    private final AtomicLongArray dues;
    private final AtomicLongArray begins;
    private final AtomicInteger received = new AtomicInteger();
    private final AtomicInteger twice = new AtomicInteger();
    private final CountDownLatch open;

    Round(int id, int messages) {
        this.id = id;
        this.dues = new AtomicLongArray(messages);
        this.begins = new AtomicLongArray(messages);
        this.open = new CountDownLatch(messages);
    }

    void begins(Message message) {
        long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
        if (begins.compareAndSet(message.number(), 0, now)) {
            dues.set(message.number(), message.due());
            received.incrementAndGet();
            open.countDown();
        } else {
            twice.incrementAndGet();
        }
    }

    int received() {
        return received.get();
    }

    /** Counts messages that will not arrive, because they were not sent. */
    void forgo(int messages) {
        for (int i = 0; i < messages; i++) {
            open.countDown();
        }
    }

    /** Waits until all have run, up to the given time. */
    Received await(long millis) throws InterruptedException {
        boolean unused = open.await(millis, TimeUnit.MILLISECONDS);
        long[] lateness = new long[begins.length()];
        int count = 0;
        long last = 0;
        for (int i = 0; i < begins.length(); i++) {
            long begin = begins.get(i);
            if (begin != 0) {
                lateness[count++] = begin - dues.get(i) * 1_000;
                last = Math.max(last, begin);
            }
        }
        lateness = Arrays.copyOf(lateness, count);
        Arrays.sort(lateness);
        int early = (int) Arrays.stream(lateness).takeWhile(late -> late < 0).count();
        return new Received(
                count,
                twice.get(),
                early,
                at(lateness, 0.5),
                at(lateness, 0.99),
                at(lateness, 1),
                last,
                at(lateness, 0));
    }

    private static long at(long[] sorted, double share) {
        return sorted.length == 0 ? 0 : sorted[Math.max(0, (int) Math.ceil(sorted.length * share) - 1)];
    }
}
