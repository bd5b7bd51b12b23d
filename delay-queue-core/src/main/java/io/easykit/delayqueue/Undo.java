package io.easykit.delayqueue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cancels messages of transactions that rolled back after all. Where the store does not answer, it is asked again in the
 * background, so that an outage at that moment does not leave messages of transactions that never were.
 */
final class Undo implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Undo.class);

    private static final long PAUSE_MILLIS = 500;
    private static final int MOST_ATTEMPTS = 600;

    private final QueueStore store;
    private final ScheduledThreadPoolExecutor background;

    Undo(QueueStore store) {
        this.store = store;
        this.background = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "delay-queue-undo");
            thread.setDaemon(true);
            return thread;
        });
        // Rarely needed: the thread begins with the first task and ends when it is idle.
        background.setKeepAliveTime(1, TimeUnit.SECONDS);
        background.allowCoreThreadTimeOut(true);
        background.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    void cancel(List<PreparedMessage> messages) {
        Map<ShardKey, List<PreparedMessage>> byShard =
                messages.stream().collect(Collectors.groupingBy(PreparedMessage::shard));
        byShard.forEach((shard, all) -> PreparedMessage.batches(all).forEach(some -> attempt(shard, some, 1)));
    }

    private void attempt(ShardKey shard, List<PreparedMessage> messages, int attempt) {
        try {
            store.cancel(shard, messages.stream().map(PreparedMessage::target).toList());
        } catch (StoreUnavailableException e) {
            again(shard, messages, attempt, e);
        } catch (RuntimeException e) {
            giveUp(shard, messages, e);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // an attempt throws nothing
    private void again(ShardKey shard, List<PreparedMessage> messages, int attempt, StoreUnavailableException e) {
        if (attempt == MOST_ATTEMPTS || background.isShutdown()) {
            giveUp(shard, messages, e);
        } else {
            background.schedule(() -> attempt(shard, messages, attempt + 1), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private static void giveUp(ShardKey shard, List<PreparedMessage> messages, RuntimeException e) {
        log.warn(
                "{} messages of {} could not be cancelled although their transaction rolled back: {}",
                messages.size(),
                shard,
                messages.stream().map(PreparedMessage::id).toList(),
                e);
    }

    @Override
    public void close() {
        background.shutdown();
    }
}
