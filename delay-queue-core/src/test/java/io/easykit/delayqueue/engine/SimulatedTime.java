package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.time.LoopExecutor;
import io.easykit.delayqueue.time.NestedTime;
import io.easykit.delayqueue.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Virtual time of several nodes, which may freeze and die, and of their store. Tasks may advance it. */
final class SimulatedTime {

    /** Of the store's clock when the simulation begins; not a whole millisecond, as real times are not. */
    private static final Instant EPOCH = Instant.ofEpochSecond(1_700_000_000, 400_000);

    private final VirtualTime time = new VirtualTime(EPOCH);

    /** The store's clock. */
    long micros() {
        return time.micros();
    }

    Instant now() {
        return Instant.ofEpochMilli(micros() / 1000);
    }

    /** A process of its own: its tasks end when it is killed. */
    Node node() {
        return new Node();
    }

    /** Runs what becomes due within this time. */
    void advance(Duration duration) {
        NestedTime.advance(time, duration);
    }

    /** Lets the time of a call pass, in which nothing else runs. */
    void pass(Duration duration) {
        time.skip(duration);
    }

    /** Runs until the condition holds; fails if it does not within the time. */
    void advanceUntil(Duration limit, String what, BooleanSupplier condition) {
        if (!time.advanceUntil(limit, condition)) {
            throw new AssertionError("Not within " + limit + ": " + what);
        }
    }

    /** The process whose task runs. */
    private static final ThreadLocal<@Nullable Node> RUNNING = new ThreadLocal<>();

    /** Thrown by what kills its own process, which is dead also if the error is caught. */
    static final class Killed extends Error {
        Killed() {
            super("killed", null, false, false);
            Node victim = RUNNING.get();
            if (victim != null) {
                victim.kill();
            }
        }
    }

    /** One process. */
    final class Node implements LoopExecutor {

        private boolean alive = true;
        private boolean frozen;
        private long thawedAt = -1;
        private final List<Runnable> whileFrozen = new ArrayList<>();

        /** Whether it is frozen, or has thawed at this very instant, before the tasks that were due meanwhile. */
        boolean isStalled() {
            return frozen || thawedAt == time.nanos();
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
            thawedAt = time.nanos();
            List.copyOf(whileFrozen).forEach(action -> after(Duration.ZERO, action));
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
                public void execute(Runnable task, Consumer<Throwable> onRefusal) {
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
            time.schedule(pause, () -> guarded(action));
        }

        private void guarded(Runnable action) {
            if (frozen) {
                whileFrozen.add(action);
            } else if (alive) {
                Node outer = RUNNING.get();
                RUNNING.set(this);
                try {
                    action.run();
                } catch (Killed e) {
                    kill();
                } finally {
                    RUNNING.set(outer);
                }
            }
        }

        @Override
        public long nanos() {
            return time.nanos();
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
            return time.loops(this::guarded).create(name, step);
        }
    }
}
