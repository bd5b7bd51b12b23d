package io.easykit.delayqueue.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Time that a test moves by hand, for several nodes and their store: whatever is due runs on the test's own thread, in an
 * order that is always the same. Real threads may start and wake loops meanwhile, such as one that restarts a container.
 */
final class SimulatedTime {

    /** Of the store's clock when the simulation begins; not a whole millisecond, as real times are not. */
    private static final long EPOCH_MICROS = 1_700_000_000_000_400L;

    private static final int MOST_STEPS_AT_ONE_INSTANT = 100_000;

    private final List<Task> tasks = new ArrayList<>();
    private volatile long nanos;
    private long sequence;
    private int stepsHere;

    /** The store's clock. */
    long micros() {
        return EPOCH_MICROS + nanos / 1000;
    }

    Instant now() {
        return Instant.ofEpochMilli(micros() / 1000);
    }

    /** A process of its own: what it has begun ends when it is killed. */
    Node node() {
        return new Node();
    }

    /** Runs what becomes due within this time. */
    void advance(Duration duration) {
        long end = nanos + duration.toNanos();
        while (step(end)) {}
        nanos = Math.max(nanos, end);
    }

    /** Lets the time of a call pass, in which nothing else runs. */
    synchronized void pass(Duration duration) {
        nanos += duration.toNanos();
    }

    /** Runs until the condition holds; fails if it does not within the time. */
    void advanceUntil(Duration limit, String what, BooleanSupplier condition) {
        long end = nanos + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (!step(end)) {
                throw new AssertionError("Not within " + limit + ": " + what);
            }
        }
    }

    private boolean step(long end) {
        Optional<Task> next = takeNext(end);
        next.ifPresent(task -> task.action.run());
        return next.isPresent();
    }

    private synchronized Optional<Task> takeNext(long end) {
        Optional<Task> next = tasks.stream()
                .filter(task -> task.at <= end)
                .min(Comparator.comparingLong((Task task) -> task.at).thenComparingLong(task -> task.sequence));
        next.ifPresent(task -> {
            tasks.remove(task);
            if (task.at > nanos) {
                nanos = task.at;
                stepsHere = 0;
            }
            if (++stepsHere > MOST_STEPS_AT_ONE_INSTANT) {
                throw new AssertionError("A loop that never rests");
            }
        });
        return next;
    }

    private synchronized Task schedule(long at, Runnable action) {
        Task task = new Task(at, sequence++, action);
        tasks.add(task);
        return task;
    }

    private record Task(long at, long sequence, Runnable action) {}

    /** Thrown by what kills its own process. */
    static final class Killed extends Error {
        Killed() {
            super("killed", null, false, false);
        }
    }

    /** One process. */
    final class Node implements LoopExecutor {

        private boolean alive = true;
        private boolean frozen;
        private long thawedAt = -1;
        private final List<Runnable> whileFrozen = new ArrayList<>();

        /** Whether it is frozen, or has thawed at this very instant, and not yet done what was due meanwhile. */
        boolean isStalled() {
            return frozen || thawedAt == nanos;
        }

        boolean isAlive() {
            return alive;
        }

        /** Nothing that it has begun goes on. */
        void kill() {
            alive = false;
        }

        /** Nothing goes on until it thaws. */
        void freeze() {
            frozen = true;
        }

        void thaw() {
            frozen = false;
            thawedAt = nanos;
            List.copyOf(whileFrozen).forEach(action -> schedule(nanos, () -> guarded(action)));
            whileFrozen.clear();
        }

        /** Runs tasks after this time each; their order is kept. */
        Executor workers(Duration pause) {
            return task -> after(pause, task);
        }

        /** Runs so many tasks at a time, the others in their order; a thread needs so long until it has begun a task. */
        Workers pool(int threads, Supplier<Duration> busy) {
            return new Workers() {

                private final Queue<Runnable> queue = new ArrayDeque<>();
                private int idle = threads;

                @Override
                public boolean queues() {
                    return true;
                }

                @Override
                public void execute(Runnable task) {
                    queue.add(task);
                    next();
                }

                private void next() {
                    if (idle > 0 && !queue.isEmpty()) {
                        idle--;
                        Runnable task = queue.remove();
                        after(busy.get(), () -> {
                            task.run();
                            idle++;
                            next();
                        });
                    }
                }

                @Override
                public void stop() {}
            };
        }

        void after(Duration pause, Runnable action) {
            schedule(nanos + pause.toNanos(), () -> guarded(action));
        }

        private void guarded(Runnable action) {
            if (frozen) {
                whileFrozen.add(action);
            } else if (alive) {
                try {
                    action.run();
                } catch (Killed e) {
                    kill();
                }
            }
        }

        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public void sleep(long duration) throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            advance(Duration.ofNanos(duration));
        }

        @Override
        public Loop create(String name, Step step) {
            return new SimulatedLoop(step);
        }

        private final class SimulatedLoop implements Loop {

            private final Step step;
            private Task next;
            private boolean running;
            private boolean woken;
            private boolean ended;

            SimulatedLoop(Step step) {
                this.step = step;
                this.next = new Task(0, 0, () -> {});
            }

            @Override
            public void start() {
                synchronized (SimulatedTime.this) {
                    next = schedule(nanos, () -> guarded(this::run));
                }
            }

            /** May come from a real thread, when a handler runs on one. */
            @Override
            public void wake() {
                synchronized (SimulatedTime.this) {
                    if (running) {
                        woken = true;
                    } else if (!ended && tasks.remove(next)) {
                        next = schedule(nanos, () -> guarded(this::run));
                    }
                }
            }

            private void run() {
                begin();
                long rest = END;
                try {
                    rest = step.run();
                } finally {
                    end(rest);
                }
            }

            private void begin() {
                synchronized (SimulatedTime.this) {
                    running = true;
                    woken = false;
                }
            }

            /** In one piece, so that a wake-up from another thread is not lost in between. */
            private void end(long rest) {
                synchronized (SimulatedTime.this) {
                    running = false;
                    if (rest == END) {
                        ended = true;
                    } else {
                        next = schedule(woken ? nanos : nanos + rest, () -> guarded(this::run));
                    }
                }
            }
        }
    }
}
