package io.easykit.benchmarks.queue.node;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

/** Executes a {@link SendOrder}: several threads take the next list of messages until there are no more. */
final class Senders {

    private static final long SHORT_PAUSE = TimeUnit.MICROSECONDS.toNanos(100);

    private final QueueContender contender;
    private final String queue;
    private final SendOrder order;
    private final int round;
    private final IntSupplier received;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger sent = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final long began = System.nanoTime();

    /** @param received number of messages that have run */
    Senders(QueueContender contender, String queue, SendOrder order, int round, IntSupplier received) {
        this.contender = contender;
        this.queue = queue;
        this.order = order;
        this.round = round;
        this.received = received;
    }

    Sent run() throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(order.threads());
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < order.threads(); i++) {
                ends.add(threads.submit(this::sendUntilDone));
            }
            for (Future<?> end : ends) {
                end.get();
            }
            return new Sent(sent.get(), failed.get(), received.getAsInt(), System.nanoTime() - began);
        } finally {
            threads.shutdownNow();
        }
    }

    private void sendUntilDone() {
        for (int from = take(); from < order.messages() && isInTime(); from = take()) {
            awaitTurn(from);
            awaitRuns();
            if (isInTime()) {
                sendFrom(from, Math.min(order.messages(), from + order.list()));
            }
        }
    }

    private int take() {
        return next.getAndAdd(order.list());
    }

    private void sendFrom(int from, int to) {
        List<Message> messages = new ArrayList<>(to - from);
        for (int number = from; number < to; number++) {
            messages.add(new Message(round, number, order.dueOf(number)));
        }
        try {
            if (order.list() == 1) {
                contender.send(queue, messages.get(0));
            } else {
                contender.sendAll(queue, messages);
            }
            sent.addAndGet(messages.size());
        } catch (RuntimeException e) {
            if (failed.getAndAdd(messages.size()) == 0) {
                System.err.println("A send failed, the first of this order: " + e);
            }
        }
    }

    private void awaitTurn(int number) {
        if (order.perSecond() > 0) {
            long turn = began + (long) (number * 1e9 / order.perSecond());
            for (long left = turn - System.nanoTime(); left > 0; left = turn - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
    }

    private void awaitRuns() {
        while (order.outstanding() > 0 && sent.get() - received.getAsInt() >= order.outstanding() && isInTime()) {
            LockSupport.parkNanos(SHORT_PAUSE);
        }
    }

    private boolean isInTime() {
        return System.nanoTime() - began < TimeUnit.MILLISECONDS.toNanos(order.limit());
    }
}
