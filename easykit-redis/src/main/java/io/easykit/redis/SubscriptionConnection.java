package io.easykit.redis;

import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.FixedBackOff;

/**
 * One connection with its subscriptions. It reports its end instead of connecting again, so that its owner decides when the next
 * attempt is, and nothing is logged with a stack trace. Drivers whose subscriptions block their thread, such as Jedis, get a thread
 * for that; listeners are called on the thread that receives.
 */
public final class SubscriptionConnection extends RedisMessageListenerContainer {

    private static final long UNUSED_PAUSE_MILLIS = 1_000;

    private final BiConsumer<SubscriptionConnection, Throwable> onLost;
    private volatile @Nullable Thread failing;

    /**
     * @param threadName of the thread that a blocking subscription gets
     * @param onLost called when subscriptions that held are lost, on a thread that must not wait
     */
    public SubscriptionConnection(
            RedisConnectionFactory connections,
            String threadName,
            BiConsumer<SubscriptionConnection, Throwable> onLost) {
        this.onLost = onLost;
        setConnectionFactory(connections);
        setTaskExecutor(Runnable::run);
        setSubscriptionExecutor(task -> {
            Thread created = new Thread(task, threadName);
            created.setDaemon(true);
            created.start();
        });
        setRecoveryBackoff(new FixedBackOff(UNUSED_PAUSE_MILLIS, 0));
    }

    /** Makes the container ready for its first subscription, which connects. */
    public void open() {
        afterPropertiesSet();
        start();
    }

    /** Not for the thread that handles a failure: it would log a stack trace and recover by itself. */
    @Override
    public boolean isRunning() {
        return Thread.currentThread() != failing && super.isRunning();
    }

    @Override
    protected void handleSubscriptionException(
            CompletableFuture<Void> future, BackOffExecution recovery, Throwable cause) {
        boolean wasSubscribed = future.isDone();
        failing = Thread.currentThread();
        try {
            super.handleSubscriptionException(future, recovery, cause);
        } finally {
            failing = null;
        }
        if (wasSubscribed) {
            onLost.accept(this, cause);
        }
    }
}
