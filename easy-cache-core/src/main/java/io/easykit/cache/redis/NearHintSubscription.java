package io.easykit.cache.redis;

import io.easykit.redis.DetachedThread;
import io.easykit.redis.SubscriptionConnection;
import io.easykit.redis.SubscriptionRefusal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Subscribes to the hints of other nodes ({@link NearHints}), on a connection of its own. A background thread subscribes and tries
 * again, so no call waits for it. Without a subscription values are kept for at most {@code near-ttl}, as with one.
 *
 * <p>A subscription sends nothing, so the driver does not notice for hours that its line or its server is gone. Therefore the node
 * publishes an empty hint from time to time, and subscribes anew if it does not come back. Not with Jedis in a cluster, where a
 * dead subscription keeps its thread.
 */
public final class NearHintSubscription {

    private static final Logger log = LoggerFactory.getLogger(NearHintSubscription.class);

    private static final long PAUSE_MILLIS = 1_000;
    private static final long PAUSE_AFTER_REFUSAL_MILLIS = 60_000;
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(10);

    private final RedisConnectionFactory connections;
    private final NearHints hints;
    private final long checkMillis;
    private @Nullable Subscriber subscriber;

    /** @param store where hints are switched off, nothing is subscribed */
    public NearHintSubscription(RedisConnectionFactory connections, RedisEntryStore store) {
        this(connections, store, CHECK_INTERVAL);
    }

    /** @param checkInterval time in which an empty hint must come back */
    NearHintSubscription(RedisConnectionFactory connections, RedisEntryStore store, Duration checkInterval) {
        this.connections = connections;
        this.hints = store.hints();
        this.checkMillis = checkInterval.toMillis();
    }

    /** Begins to subscribe, unless it has begun. */
    public synchronized void start() {
        if (subscriber == null && hints.areOn()) {
            Subscriber started = new Subscriber();
            subscriber = started;
            started.start();
        }
    }

    /** Ends the subscription. Waits at most a second for that. */
    public synchronized void stop() {
        if (subscriber != null) {
            subscriber.end().completeOnTimeout(null, 1, TimeUnit.SECONDS).join();
            subscriber = null;
        }
    }

    private static Thread daemon(Runnable task, String name) {
        return DetachedThread.of(name, task);
    }

    /** The thread from a start to its stop, with its connection. */
    private final class Subscriber {

        private final ScheduledThreadPoolExecutor thread =
                new ScheduledThreadPoolExecutor(1, task -> daemon(task, "easy-cache-hints"));

        // For the thread only.
        private @Nullable SubscriptionConnection connection;

        /** Whether an attempt after a failure is planned. */
        private boolean planned;

        Subscriber() {
            thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        }

        @SuppressWarnings("FutureReturnValueIgnored") // a task throws nothing
        void start() {
            thread.scheduleWithFixedDelay(this::ensureAttempt, 0, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        }

        /** The first attempt, and each one for which there was no memory to plan it. */
        private void ensureAttempt() {
            try {
                if (connection == null && !planned) {
                    subscribe();
                }
            } catch (Throwable failure) {
                // Such as a lack of memory while a failure is reported. A task that throws is not run again.
            }
        }

        @SuppressWarnings("FutureReturnValueIgnored") // a task throws nothing
        void run(Runnable task, long delayMillis) {
            try {
                thread.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException stopped) {
                log.debug("The subscription to hints has ended", stopped);
            }
        }

        CompletableFuture<Void> end() {
            CompletableFuture<Void> end = CompletableFuture.runAsync(this::disconnect, thread);
            thread.shutdown();
            return end;
        }

        void subscribe() {
            planned = false;
            try {
                publishEmpty(); // while Redis is away, no connection is opened
                SubscriptionConnection opened = new SubscriptionConnection(
                        connections,
                        "easy-cache-hints-connection",
                        (broken, failure) -> run(() -> lost(broken, failure), 0));
                connection = opened;
                opened.subscribe((message, pattern) -> hints.received(message.getBody()), List.of(hints.channel()));
                if (SubscriptionConnection.leavesNoThread(connections)) {
                    planCheck(opened);
                }
            } catch (Throwable failure) {
                // Such as a thread that could not be started. Nobody else would try again.
                disconnect();
                again(failure);
            }
        }

        private void publishEmpty() {
            try (RedisConnection redis = connections.getConnection()) {
                redis.publish(EntryFields.bytes(hints.channel()), hints.empty());
            }
        }

        private void planCheck(SubscriptionConnection present) {
            boolean unused = hints.takeReturned();
            publishEmpty();
            run(() -> check(present), checkMillis);
        }

        private void check(SubscriptionConnection present) {
            if (present != connection) {
                return;
            }
            try {
                if (!hints.takeReturned()) {
                    throw new RedisConnectionFailureException("An empty hint has not come back");
                }
                planCheck(present);
            } catch (Throwable failure) {
                disconnect();
                again(failure);
            }
        }

        private void again(Throwable failure) {
            SubscriptionRefusal refusal = SubscriptionRefusal.of(failure, hints.channel());
            if (refusal == null) {
                plan(PAUSE_MILLIS);
                log.debug(
                        "There is no subscription to hints at the moment. The next attempt follows in a second",
                        failure);
                return;
            }
            if (refusal.isFinal()) {
                planned = true; // there is no further one
            } else {
                plan(PAUSE_AFTER_REFUSAL_MILLIS);
            }
            log.warn(
                    "Updates of other nodes reach the near level after near-ttl, and not at once, because there is no"
                            + " subscription to hints: {}, or set easy-cache.near.hints to false",
                    refusal.text());
        }

        private void plan(long delayMillis) {
            run(this::subscribe, delayMillis);
            planned = true;
        }

        private void disconnect() {
            SubscriptionConnection current = connection;
            connection = null;
            if (current != null) {
                try {
                    current.close();
                } catch (Throwable e) {
                    log.debug("The subscription to hints did not end cleanly", e);
                }
            }
        }

        /** A driver that does not connect again by itself has lost the connection. */
        void lost(SubscriptionConnection broken, Throwable failure) {
            if (broken == connection) {
                disconnect();
                again(failure);
            }
        }
    }
}
