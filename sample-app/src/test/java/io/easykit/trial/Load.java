package io.easykit.trial;

import io.easykit.trial.Diary.Call;
import io.easykit.trial.Diary.Kind;
import io.easykit.trial.Diary.StaleRead;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads, updates and sends of all nodes. Each share has its own threads, so that a hanging share does not delay calls
 * to another one.
 */
final class Load implements AutoCloseable {

    private static final Duration READ_PAUSE = Duration.ofMillis(5);
    private static final Duration UPDATE_PAUSE = Duration.ofMillis(25);
    private static final Duration SEND_PAUSE = Duration.ofMillis(10);
    private static final int LONGEST_DELAY_MILLIS = 800;
    private static final AtomicLong NUMBERS = new AtomicLong();

    private final Keys keys;
    private final Diary diary;
    private final PacedCalls calls = new PacedCalls();
    private final CountDownLatch stopped = new CountDownLatch(1);

    private Load(Keys keys, Diary diary) {
        this.keys = keys;
        this.diary = diary;
    }

    static Load start(List<TrialNode> nodes, Keys keys, Diary diary) {
        Load load = new Load(keys, diary);
        for (int node = 0; node < nodes.size(); node++) {
            for (int share = 0; share < keys.shares(); share++) {
                load.startCalls(nodes.get(node), node, share);
            }
        }
        return load;
    }

    /** Continues the load for some time. */
    void goOnFor(Duration duration) {
        try {
            if (stopped.await(duration.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("The load was stopped");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** @throws IllegalStateException if a part of the load ended unexpectedly */
    @Override
    public void close() {
        stopped.countDown();
        calls.close();
    }

    private void startCalls(TrialNode node, int number, int share) {
        repeat(READ_PAUSE, () -> read(node, number, share));
        repeat(UPDATE_PAUSE, () -> update(node, number, share));
        repeat(SEND_PAUSE, () -> send(node, number, share));
    }

    private void repeat(Duration pause, Runnable call) {
        calls.repeat("load", pause.multipliedBy(keys.shares()), call);
    }

    private void read(TrialNode node, int number, int share) {
        boolean cp = ThreadLocalRandom.current().nextBoolean();
        Kind kind = cp ? Kind.READ_CP : Kind.READ_AP;
        Map.Entry<String, Versions> entry = any(cp ? keys.cp(share) : keys.ap(share));
        long began = System.nanoTime();
        Long version = record(
                kind,
                number,
                share,
                began,
                () -> cp ? node.entries().cp(entry.getKey()) : node.entries().ap(entry.getKey()));
        if (version != null) {
            long overtakenAt = entry.getValue().overtakenAt(version, began);
            if (overtakenAt != began) {
                String what =
                        "%s on node %d returned version %d of %s".formatted(kind, number, version, entry.getKey());
                diary.stale(new StaleRead(kind, entry.getValue().writer() == number, began, overtakenAt, what));
            }
        }
    }

    private void update(TrialNode node, int number, int share) {
        boolean cp = ThreadLocalRandom.current().nextBoolean();
        Map.Entry<String, Versions> entry = any((cp ? keys.cp(share) : keys.ap(share))
                .stream().filter(one -> one.getValue().writer() == number).toList());
        Long version = record(
                cp ? Kind.UPDATE_CP : Kind.UPDATE_AP,
                number,
                share,
                System.nanoTime(),
                () -> cp
                        ? node.entries().updateCp(entry.getKey())
                        : node.entries().updateAp(entry.getKey()));
        if (version != null) {
            entry.getValue().returned(version, System.nanoTime());
        }
    }

    private void send(TrialNode node, int number, int share) {
        String id = keys.messageId(share, NUMBERS.getAndIncrement());
        int delay = ThreadLocalRandom.current().nextInt(LONGEST_DELAY_MILLIS);
        diary.sending(id, share, System.currentTimeMillis() + delay);
        Boolean replicated = record(
                Kind.SEND,
                number,
                share,
                System.nanoTime(),
                () -> node.send(keys.topic(), id, Duration.ofMillis(delay)));
        if (Boolean.TRUE.equals(replicated)) {
            diary.acknowledged(id);
        }
    }

    private <T> @Nullable T record(Kind kind, int node, int share, long began, Supplier<T> call) {
        try {
            T result = call.get();
            diary.called(new Call(kind, node, share, began, System.nanoTime(), null));
            return result;
        } catch (RuntimeException error) {
            diary.called(new Call(kind, node, share, began, System.nanoTime(), error));
            return null;
        }
    }

    private static <T> T any(List<T> all) {
        return all.get(ThreadLocalRandom.current().nextInt(all.size()));
    }
}
