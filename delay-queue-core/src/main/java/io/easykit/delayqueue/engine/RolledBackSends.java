package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.time.DetachedThread;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cancels messages that were stored before their transaction rolled back. If the store does not answer, the cancel is repeated in
 * the background until it does, so that an outage at that moment leaves no messages of rolled-back transactions.
 *
 * <p>A warning names the messages for which this fails: a consumer was faster; more than {@link #MOST_WAITING} wait for the
 * store already; the process ends before the store has answered; the store refuses. After a timed-out cancel a missing
 * message is ambiguous: cancelled, or already consumed.
 */
final class RolledBackSends implements AutoCloseable {

    /** About two megabytes: ids and nonces are kept, not the messages. */
    static final int MOST_WAITING = 10_000;

    private static final Logger log = LoggerFactory.getLogger(RolledBackSends.class);

    private static final long PAUSE_MILLIS = 500;

    private final QueueStore store;
    private final LongSupplier nanos;
    private final ScheduledThreadPoolExecutor background;
    private final Map<ShardKey, Queue<Stored>> waiting = new LinkedHashMap<>();
    private int size;
    private boolean roundIsPlanned;
    private boolean closed;

    /** @param nanos a clock that only moves forward */
    RolledBackSends(QueueStore store, LongSupplier nanos) {
        this(store, nanos, task -> DetachedThread.of("delay-queue-rollback", task));
    }

    RolledBackSends(QueueStore store, LongSupplier nanos, ThreadFactory threads) {
        this.store = store;
        this.nanos = nanos;
        this.background = new ScheduledThreadPoolExecutor(1, threads);
        // Rarely needed: the thread begins with the first task and ends when it is idle.
        background.setKeepAliveTime(1, TimeUnit.SECONDS);
        background.allowCoreThreadTimeOut(true);
        background.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /**
     * A message that is in the store, or may be.
     *
     * @param surely whether it is there unless it was claimed or cancelled
     */
    private record Stored(Target target, boolean surely) {

        static Stored of(PreparedMessage message) {
            return new Stored(message.target(), message.outcome() != null);
        }

        Stored unsure() {
            return new Stored(target, false);
        }

        boolean wasDelivered(ChangeOutcome outcome) {
            return outcome == ChangeOutcome.IN_FLIGHT
                    || outcome == ChangeOutcome.DEAD
                    || (outcome == ChangeOutcome.GONE && surely);
        }
    }

    /**
     * Cancels those of these that are stored or may be, but not the live messages that duplicates have met. The caller waits at most
     * twice for a store that does not answer; the rest is left to the background.
     */
    void cancel(List<PreparedMessage> messages) {
        List<PreparedMessage> own =
                messages.stream().filter(PreparedMessage::mayBeStored).toList();
        OutageTimeLimit outageLimit = new OutageTimeLimit(nanos);
        PreparedMessage.byShard(
                own,
                (shard, batch) -> attempt(shard, batch.stream().map(Stored::of).toList(), outageLimit));
    }

    /** False if the store did not answer, so that they wait for the next round. */
    private boolean attempt(ShardKey shard, List<Stored> some, OutageTimeLimit outageLimit) {
        boolean[] called = new boolean[1];
        try {
            outageLimit.call(shard, () -> {
                called[0] = true;
                List<ChangeOutcome> outcomes =
                        store.cancel(shard, some.stream().map(Stored::target).toList());
                warnOfDelivered(shard, some, outcomes);
            });
        } catch (StoreUnavailableException e) {
            // The call may have been carried out without a reply: from now on a missing message is ambiguous.
            keep(shard, called[0] ? some.stream().map(Stored::unsure).toList() : some, e.toString());
            return false;
        } catch (RuntimeException | Error e) {
            giveUp(shard, some, e.toString());
        }
        return true;
    }

    private synchronized void keep(ShardKey shard, List<Stored> some, String reason) {
        if (closed || size + some.size() > MOST_WAITING) {
            giveUp(shard, some, closed ? reason : size + " others wait for the store already, " + reason);
            return;
        }
        waiting.computeIfAbsent(shard, s -> new ArrayDeque<>()).addAll(some);
        size += some.size();
        planRound();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a round throws nothing
    private void planRound() {
        if (roundIsPlanned) {
            return;
        }
        try {
            background.schedule(this::round, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            roundIsPlanned = true;
        } catch (OutOfMemoryError e) {
            log.debug("No thread to cancel the messages. The next messages that have to wait start it", e);
        }
    }

    /** Everything that waits, but of each shard only as long as it answers. */
    private void round() {
        for (ShardKey shard : beginRound()) {
            List<Stored> some = take(shard);
            while (!some.isEmpty() && attempt(shard, some, new OutageTimeLimit(nanos))) {
                some = take(shard);
            }
        }
    }

    private synchronized List<ShardKey> beginRound() {
        roundIsPlanned = false;
        return List.copyOf(waiting.keySet());
    }

    private synchronized List<Stored> take(ShardKey shard) {
        Queue<Stored> queue = waiting.getOrDefault(shard, new ArrayDeque<>());
        List<Stored> taken = new ArrayList<>();
        while (!queue.isEmpty() && taken.size() < QueueStore.MAX_BATCH) {
            taken.add(queue.remove());
        }
        if (queue.isEmpty()) {
            waiting.remove(shard);
        }
        size -= taken.size();
        return taken;
    }

    private static void warnOfDelivered(ShardKey shard, List<Stored> some, List<ChangeOutcome> outcomes) {
        List<Stored> delivered = new ArrayList<>();
        for (int i = 0; i < some.size(); i++) {
            if (some.get(i).wasDelivered(outcomes.get(i))) {
                delivered.add(some.get(i));
            }
        }
        if (!delivered.isEmpty()) {
            log.warn(
                    "{} messages of {} were delivered although their transaction rolled back, because they were due before"
                            + " it ended: {}. Give them a delay longer than a commit takes, or send them after it.",
                    delivered.size(),
                    shard,
                    ids(delivered));
        }
    }

    private static void giveUp(ShardKey shard, List<Stored> messages, String reason) {
        log.warn(
                "{} messages of {} will be delivered although their transaction rolled back, because they could not be"
                        + " cancelled: {}: {}",
                messages.size(),
                shard,
                ids(messages),
                LogText.of(reason));
    }

    private static String ids(List<Stored> messages) {
        return LogText.list(
                messages.stream().map(stored -> stored.target().id()).toList());
    }

    /** Stops the repetitions: the remaining messages have waited for a while already. */
    @Override
    public synchronized void close() {
        closed = true;
        background.shutdown();
        waiting.forEach((shard, all) -> Batches.of(all)
                .forEach(some -> giveUp(shard, some, "the application ends, and the store does not answer")));
        waiting.clear();
        size = 0;
    }
}
