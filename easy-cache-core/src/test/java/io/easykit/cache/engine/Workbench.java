package io.easykit.cache.engine;

import io.easykit.cache.Action;
import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.Loader;
import io.easykit.cache.Transactions;
import io.easykit.cache.Transactions.Completion;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.FaultyCacheStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** Caches on a store in memory, with every clock, thread and fault in the test's hand. */
final class Workbench {

    final ManualClock clock = new ManualClock();
    final FaultyCacheStore store = new FaultyCacheStore(clock::millis);
    final Background background = new Background();
    final Recorder events = new Recorder();
    final FakeTransactions transactions = new FakeTransactions();

    /** One more JVM on the store. */
    EasyCacheEngine node() {
        return node(new JacksonValueCodec());
    }

    EasyCacheEngine node(ValueCodec codec) {
        return builder(codec).buildStopped();
    }

    /** One more JVM that goes on in its own way while the store is away. */
    EasyCacheEngine node(DegradedOptions degraded) {
        return builder(new JacksonValueCodec()).degraded(degraded).buildStopped();
    }

    EasyCacheEngine.Builder builder(ValueCodec codec) {
        return EasyCacheEngine.builder(codec)
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .transactions(transactions)
                .background(background)
                .localLevels(() -> new CaffeineLocalLevel(100))
                .degraded(DegradedOptions.defaults().withLocalTtl(Duration.ofMinutes(1)))
                .listener(events)
                .ticker(clock);
    }

    /** The store is away, and a node has marked it unavailable. */
    void cutOff(EasyCacheEngine cache) {
        store.away();
        Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER)).force(Availability.State.UNAVAILABLE);
        List<String> unused = events.next();
    }

    /**
     * Commits a transaction on another thread, and does not call back after it: the process has died.
     *
     * @param commit the commit
     * @param updates the first comes before the preparation of the commit, the others after it
     */
    void commitAndDie(Runnable commit, Runnable... updates) throws Exception {
        boolean unused = TwoNodes.inBackground(() -> {
                    transactions.begin();
                    updates[0].run();
                    Objects.requireNonNull(transactions.current()).beforeCommit();
                    List.of(updates).subList(1, updates.length).forEach(Runnable::run);
                    commit.run();
                })
                .result();
    }

    static CacheSpec<String> ap() {
        return CacheSpec.of("name", String.class)
                .withOptions(CacheOptions.builder().ttlJitter(0).build());
    }

    static CacheSpec<String> cp() {
        return ap().withOptions(
                        ap().options().toBuilder().consistency(Consistency.CP).build());
    }

    static CacheSpec<String> spec(Consistency consistency) {
        return consistency == Consistency.AP ? ap() : cp();
    }

    static <T> Caller<T> call(Callable<T> work) {
        return new Caller<>(work);
    }

    static <T> List<Caller<T>> call(int callers, Callable<T> work) {
        List<Caller<T>> all = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            all.add(call(work));
        }
        return all;
    }

    /** A caller on a thread of its own. */
    static final class Caller<T> {

        private final FutureTask<T> task;
        private final Thread thread;

        private Caller(Callable<T> work) {
            this.task = new FutureTask<>(work);
            this.thread = new Thread(task, "caller");
            thread.setDaemon(true);
            thread.start();
        }

        /** Returns when the thread of the caller waits. */
        Caller<T> awaitWaiting() {
            Awaitility.await().pollInterval(Duration.ofMillis(1)).until(this::isWaiting);
            return this;
        }

        boolean isWaiting() {
            Thread.State state = thread.getState();
            return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        }

        /** Whether it waits for a lock that another thread has. */
        boolean isBlocked() {
            return thread.getState() == Thread.State.BLOCKED;
        }

        boolean isDone() {
            return task.isDone();
        }

        void interrupt() {
            thread.interrupt();
        }

        T result() throws Exception {
            return task.get(10, TimeUnit.SECONDS);
        }

        Throwable failure() throws InterruptedException, TimeoutException {
            try {
                T result = task.get(10, TimeUnit.SECONDS);
                throw new AssertionError("No failure, but " + result);
            } catch (ExecutionException failed) {
                return failed.getCause();
            }
        }
    }

    /** A loader that reads at once, and comes back when it is let go. */
    static final class GatedLoader<V> implements Loader<V, RuntimeException> {

        private final Supplier<V> source;
        private final AtomicInteger loads = new AtomicInteger();
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch gate = new CountDownLatch(1);

        GatedLoader(Supplier<V> source) {
            this.source = source;
        }

        @Override
        public V load() {
            loads.incrementAndGet();
            V value = source.get();
            entered.countDown();
            try {
                if (!gate.await(10, TimeUnit.SECONDS)) {
                    throw new AssertionError("Nobody let the loader go");
                }
            } catch (InterruptedException stop) {
                throw new AssertionError("The loader was interrupted", stop);
            }
            return value;
        }

        void awaitEntered() {
            try {
                if (!entered.await(10, TimeUnit.SECONDS)) {
                    throw new AssertionError("Nobody loads");
                }
            } catch (InterruptedException stop) {
                throw new AssertionError("Interrupted while nobody loads", stop);
            }
        }

        void letGo() {
            gate.countDown();
        }

        int loads() {
            return loads.get();
        }
    }

    /** Pauses the first load of a key that the store has accepted, before its readers get the result. */
    static CacheListener pausing(CacheKey<?> key, GatedLoader<?> pause) {
        return new CacheListener() {
            @Override
            public void onLoad(CacheKey<?> loaded, Duration took, Load load) {
                if (loaded.equals(key) && load == Load.STORED && pause.loads() == 0) {
                    pause.load();
                }
            }
        };
    }

    /** Keeps the tasks until the test runs them. */
    static final class Background implements Executor {

        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        private volatile boolean full;

        @Override
        public void execute(Runnable task) {
            if (full) {
                throw new RejectedExecutionException("full");
            }
            tasks.add(task);
        }

        void setFull(boolean value) {
            this.full = value;
        }

        int size() {
            return tasks.size();
        }

        void runAll() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }
    }

    /** Records the events of a listener as texts. */
    static final class Recorder implements CacheListener {

        private final List<String> heard = new CopyOnWriteArrayList<>();

        @Override
        public void onHit(CacheKey<?> key, Hit hit) {
            heard.add("hit " + hit);
        }

        @Override
        public void onMiss(CacheKey<?> key) {
            heard.add("miss");
        }

        @Override
        public void onLoad(CacheKey<?> key, Duration took, Load load) {
            heard.add("load " + load);
        }

        @Override
        public void onInvalidation(CacheKey<?> key, @Nullable Throwable failure) {
            heard.add(failure == null ? "invalidated" : "not invalidated");
        }

        @Override
        public void onAvailability(String clusterId, Availability.State state) {
            heard.add(clusterId + " " + state);
        }

        @Override
        public void onMasterAvailability(String clusterId, String slots, Availability.State state) {
            heard.add(clusterId + " " + slots + " " + state);
        }

        @Override
        public void onUnreadable(CacheKey<?> key) {
            heard.add("unreadable");
        }

        /** Returns the events since its last call. */
        List<String> next() {
            List<String> copy = List.copyOf(heard);
            heard.clear();
            return copy;
        }
    }

    /** One transaction a thread. */
    static final class FakeTransactions implements Transactions {

        @SuppressWarnings("ThreadLocalUsage") // dies with its test
        private final ThreadLocal<Transaction> present = new ThreadLocal<>();

        private volatile @Nullable Duration timeout;

        private volatile @Nullable Thread hidden;
        private boolean inner;
        private volatile boolean connected;
        private volatile @Nullable Thread owner;

        /** A transaction has ended, but its connection is not given back. */
        void keepConnection() {
            connected = true;
        }

        /** The same, and other threads have no such transaction. */
        void keepOwnConnection() {
            owner = Thread.currentThread();
            connected = true;
        }

        void giveBackConnection() {
            connected = false;
        }

        @Override
        public @Nullable BooleanSupplier lateCommit() {
            boolean other = owner != null && owner != Thread.currentThread();
            return connected && !other ? () -> connected : null;
        }

        @Override
        public boolean isEndHidden() {
            return hidden == Thread.currentThread();
        }

        @Override
        public boolean hasInner() {
            return inner;
        }

        /** A transaction without callbacks is open from now on. */
        void beginHidden() {
            hidden = Thread.currentThread();
        }

        /** Another transaction begins inside the present one. */
        void beginInner() {
            inner = true;
        }

        /** It commits. */
        void commitInner(Runnable database) {
            endInner(database, true);
        }

        /** Its commit fails, and may be carried out later. */
        void loseInner() {
            endInner(() -> {}, false);
        }

        private void endInner(Runnable database, boolean committed) {
            Participant outer = current();
            if (outer != null) {
                outer.beforeInnerCommit(database);
            }
            database.run();
            inner = false;
            if (outer != null) {
                outer.afterInnerCompletion(database, committed);
            }
        }

        @Override
        public boolean isActive() {
            return present.get() != null;
        }

        @Override
        public @Nullable Participant current() {
            Transaction transaction = present.get();
            return transaction == null ? null : transaction.participant;
        }

        @Override
        public void enlist(Participant participant) {
            Transaction transaction = present.get();
            if (transaction.participant != null) {
                throw new IllegalStateException("Somebody is enlisted already");
            }
            transaction.participant = participant;
        }

        private final List<String> own = new CopyOnWriteArrayList<>();
        private volatile boolean failsToCommit;

        /** Commits of new transactions fail from now on, with an unknown outcome. */
        void failToCommit() {
            failsToCommit = true;
        }

        /** What became of the new transactions. */
        List<String> own() {
            return own;
        }

        @Override
        public <T, X extends Throwable> @Nullable T inNewTransaction(Action<T, X> action) throws X {
            own.add("begin");
            begin();
            T result;
            try {
                result = action.run();
            } catch (RuntimeException | Error failure) {
                own.add("rollback");
                rollback();
                throw failure;
            }
            if (failsToCommit) {
                own.add("lost");
                lose();
                throw new IllegalStateException("lost");
            }
            commit(() -> own.add("commit"));
            return result;
        }

        void setTimeout(Duration value) {
            this.timeout = value;
        }

        @Override
        public @Nullable Duration timeout() {
            return timeout;
        }

        void begin() {
            present.set(new Transaction());
        }

        /** Runs the commit of the database between the phases before and after it. */
        void commit(Runnable database) {
            Transaction transaction = present.get();
            try {
                transaction.beforeCommit();
                database.run();
            } catch (RuntimeException failure) {
                end(Completion.ROLLED_BACK);
                throw failure;
            }
            end(Completion.ENDED);
        }

        void rollback() {
            end(Completion.ROLLED_BACK);
        }

        /** The commit was sent, and its outcome is unknown. */
        void lose() {
            present.get().beforeCommit();
            end(Completion.UNKNOWN);
        }

        private void end(Completion completion) {
            Transaction transaction = present.get();
            if (transaction.participant != null) {
                transaction.participant.afterCompletion(completion);
            }
            present.remove();
        }

        private static final class Transaction {

            private @Nullable Participant participant;

            void beforeCommit() {
                if (participant != null) {
                    participant.beforeCommit();
                }
            }
        }
    }
}
