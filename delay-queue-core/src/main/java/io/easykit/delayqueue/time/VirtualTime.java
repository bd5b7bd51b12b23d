package io.easykit.delayqueue.time;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Time that a test moves, for engines and their store. Nothing runs unless time advances: due tasks run on the thread that
 * advances it, one after the other, in an order that is always the same. Tasks of one instant run in the order in which they
 * were planned. Other threads may send and read meanwhile.
 *
 * <p>One thread at a time advances. A task that calls {@link #advance} is refused, because the tasks after it would run inside
 * it.
 */
public final class VirtualTime {

    private static final int MOST_TASKS_AT_ONE_INSTANT = 100_000;

    /** In real time. Longer than the tasks of one advance last. */
    private static final long PATIENCE_SECONDS = 30;

    private static final Comparator<Task> ORDER =
            Comparator.comparingLong(Task::at).thenComparingLong(Task::sequence);

    private final ReentrantLock advancing = new ReentrantLock();
    private final BooleanSupplier holdsWorkers;

    /** By the names of loops, what runs a step that is due. */
    private final ConcurrentMap<String, Runnable> loops = new ConcurrentHashMap<>();

    // Guarded by this. Written by one thread at a time.
    private final NavigableSet<Task> tasks = new TreeSet<>(ORDER);
    private volatile long nanos;
    private volatile long epochMicros;
    private volatile @Nullable Thread runner;
    private long sequence;
    private int tasksAtThisInstant;

    /** @param start the instant of the store's clock at which virtual time begins */
    public VirtualTime(Instant start) {
        this(start, () -> false);
    }

    /**
     * Time in which a wait of an engine may leave tasks to the next {@link #advance}.
     *
     * @param start the instant of the store's clock at which virtual time begins
     * @param holdsWorkers whether the tasks of {@link #workers} must not run on the present thread while an engine waits on it,
     *     for example because they would join its transaction
     */
    public VirtualTime(Instant start, BooleanSupplier holdsWorkers) {
        this.epochMicros = micros(start);
        this.holdsWorkers = holdsWorkers;
    }

    /** A task that runs at a time. */
    private record Task(long at, long sequence, Runnable action, Kind kind) {}

    private enum Kind {
        LOOP,
        WORKER,
        /** Planned by {@link #schedule}. */
        TEST
    }

    private static long micros(Instant instant) {
        return TimeUnit.SECONDS.toMicros(instant.getEpochSecond()) + instant.getNano() / 1000;
    }

    /** A clock that only moves forward, in nanoseconds. */
    public long nanos() {
        return nanos;
    }

    /** The store's clock, in microseconds since the epoch. */
    public long micros() {
        return epochMicros + nanos / 1000;
    }

    public Instant now() {
        long micros = micros();
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1000);
    }

    /**
     * Sets the store's clock, back too. Delays that run are not affected. A step ahead of more than a second looks like a fail-over to
     * a server whose clock is ahead: messages of crashed consumers then come up to 12 s later. {@link #skip} and {@link #advance} move
     * the clock without a step.
     */
    public void setClock(Instant now) {
        epochMicros = micros(now) - nanos / 1000;
    }

    /**
     * Lets time pass, and runs the tasks that become due on the calling thread before it returns.
     *
     * @throws IllegalArgumentException if the duration is negative, or ends more than 292 years after the begin
     * @throws IllegalStateException if a task calls this, if another thread advances for more than 30 s of real time, or if
     *     tasks plan others without end
     */
    public void advance(Duration duration) {
        requireForward(duration);
        enter();
        try {
            runUntil(after(duration), true);
        } finally {
            leave();
        }
    }

    /**
     * Lets time pass until a condition holds.
     *
     * @return false if it did not hold within the time
     * @throws IllegalStateException as {@link #advance}
     */
    public boolean advanceUntil(Duration limit, BooleanSupplier condition) {
        enter();
        try {
            long end = after(limit);
            while (!condition.getAsBoolean()) {
                if (!runNext(end, true)) {
                    moveTo(end);
                    return condition.getAsBoolean();
                }
            }
            return true;
        } finally {
            leave();
        }
    }

    /**
     * Runs the step of a loop if it is due now, before other tasks of this instant and also within another task. Does nothing
     * if another thread advances the time, or if there is no such loop.
     *
     * @param loop its name, as given to {@link LoopExecutor#create}
     */
    public void runDue(String loop) {
        Runnable step = loops.get(loop);
        if (step != null && advancing.tryLock()) {
            try {
                step.run();
            } finally {
                advancing.unlock();
            }
        }
    }

    /** Lets time pass in which nothing runs, such as that of a slow call. Tasks that become due run late. */
    public synchronized void skip(Duration duration) {
        requireForward(duration);
        nanos = after(duration);
    }

    /** Plans a task. It runs when time has advanced so far. */
    public void schedule(Duration delay, Runnable task) {
        plan(after(delay) - nanos, task, Kind.TEST);
    }

    /** Removes the tasks of {@link #schedule} that have not run. Loops and workers go on. */
    public synchronized void cancelScheduled() {
        tasks.removeIf(task -> task.kind == Kind.TEST);
    }

    /** Runs tasks at the present instant, after those that are due already. */
    public Executor workers() {
        return task -> plan(0, task, Kind.WORKER);
    }

    /** Loops that run in this time. */
    public LoopExecutor loops() {
        return loops(Runnable::run);
    }

    /**
     * Loops that run in this time.
     *
     * @param steps runs their steps, each at its time. It may run them later, or never
     */
    public LoopExecutor loops(Executor steps) {
        return new VirtualLoops(this, steps);
    }

    private static void requireForward(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("Virtual time cannot go back by " + duration.negated()
                    + ". Send messages that are due earlier, or advance in smaller steps.");
        }
    }

    private long after(Duration duration) {
        try {
            return Math.addExact(nanos, duration.toNanos());
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    "Virtual time ends after 292 years, so it cannot advance by " + duration
                            + ". Use earlier due times in the test.",
                    e);
        }
    }

    private void enter() {
        if (advancing.isHeldByCurrentThread()) {
            throw new IllegalStateException(
                    "Virtual time is advanced by a handler, interceptor or listener that runs in it."
                            + " Advance it in the test only; a handler that needs a delay sends a message.");
        }
        if (!tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            Thread other = runner;
            throw new IllegalStateException("Virtual time is advanced by the thread '"
                    + (other == null ? "?" : other.getName()) + "' since " + PATIENCE_SECONDS
                    + " s: one of the handlers that it runs does not return. Let handlers wait for nothing that this thread"
                    + " does.");
        }
        runner = Thread.currentThread();
        countAnew();
    }

    private synchronized void countAnew() {
        tasksAtThisInstant = 0;
    }

    private void leave() {
        runner = null;
        advancing.unlock();
    }

    private boolean tryLock(long time, TimeUnit unit) {
        try {
            return advancing.tryLock(time, unit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while another thread advances virtual time.", e);
        }
    }

    /** Runs due tasks, also within another task. False if another thread advances. */
    boolean tryRun(Duration duration) {
        if (!advancing.tryLock()) {
            return false;
        }
        try {
            if (advancing.getHoldCount() == 1) {
                countAnew();
            }
            runUntil(after(duration), true);
            return true;
        } finally {
            advancing.unlock();
        }
    }

    /**
     * Waits for the end of an advance of another thread; then runs the tasks until the time, also within another task. Those of
     * workers may have to wait.
     */
    void sleepUntil(long end) throws InterruptedException {
        advancing.lockInterruptibly();
        try {
            runUntil(end, !holdsWorkers.getAsBoolean());
        } finally {
            advancing.unlock();
        }
    }

    private void runUntil(long end, boolean withWorkers) {
        while (runNext(end, withWorkers)) {}
        moveTo(end);
    }

    private synchronized void moveTo(long end) {
        nanos = Math.max(nanos, end);
    }

    private boolean runNext(long end, boolean withWorkers) {
        Task next = takeNext(end, withWorkers);
        if (next != null) {
            next.action.run();
        }
        return next != null;
    }

    private synchronized @Nullable Task takeNext(long end, boolean withWorkers) {
        Task next = tasks.stream()
                .filter(task -> withWorkers || task.kind != Kind.WORKER)
                .findFirst()
                .orElse(null);
        if (next == null || next.at > end) {
            return null;
        }
        if (next.at > nanos) {
            nanos = next.at;
            tasksAtThisInstant = 0;
        }
        if (++tasksAtThisInstant > MOST_TASKS_AT_ONE_INSTANT) {
            throw new IllegalStateException("Virtual time stands still: more than " + MOST_TASKS_AT_ONE_INSTANT
                    + " tasks run at the same instant. Give messages that handlers send to their own topic a delay, and"
                    + " send fewer messages.");
        }
        tasks.remove(next);
        return next;
    }

    /** Plans a task and returns it, to be cancelled. */
    Object plan(long delay, Runnable action) {
        return plan(delay, action, Kind.LOOP);
    }

    private synchronized Object plan(long delay, Runnable action, Kind kind) {
        Task task = new Task(nanos + delay, sequence++, action, kind);
        tasks.add(task);
        return task;
    }

    /** Takes a task that is due off the plan; false if it is not due, has run already, or runs. */
    synchronized boolean takeDue(@Nullable Object task) {
        return task instanceof Task planned && planned.at <= nanos && tasks.remove(planned);
    }

    /** @param step runs the next step if it is due */
    void addLoop(String name, Runnable step) {
        loops.put(name, step);
    }

    void removeLoop(String name, Runnable step) {
        loops.remove(name, step);
    }

    /** False if it has run already, or runs. */
    synchronized boolean cancel(@Nullable Object task) {
        return task instanceof Task planned && tasks.remove(planned);
    }
}
