package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.WakeupListener;
import io.easykit.delayqueue.support.LogText;
import io.easykit.redis.DetachedThread;
import io.easykit.redis.ErrorReply;
import io.easykit.redis.RedisReply;
import io.easykit.redis.SubscriptionConnection;
import io.easykit.redis.SubscriptionRefusal;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The wakeup subscriptions of all shards, on one connection. A background thread subscribes and retries, so that no delivery
 * waits for a mere hint. It opens a new connection at the first subscription and after each failure. Drivers whose
 * subscriptions block their thread, such as Jedis, get another thread for that.
 *
 * <p>A subscriber receives {@link Instant#EPOCH} when wakeups may have been lost: when its subscription begins, and when a driver
 * has made it again on a new connection. In between, {@link WakeupProof} shows that the connection has lost none.
 */
final class WakeupSubscriptions implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(WakeupSubscriptions.class);

    private static final long PAUSE_MILLIS = 1_000;
    private static final long PAUSE_AFTER_REFUSAL_MILLIS = 60_000;

    /** A subscription sends nothing, so the driver does not notice for hours that its line is dead. */
    private static final Duration DEAD_AFTER = Duration.ofSeconds(10);

    private final RedisConnectionFactory connections;
    private final RedisKeys keys;
    private final ScheduledThreadPoolExecutor thread;

    private final WakeupProof proof;
    private final Duration deadAfter;
    private final Set<String> confirmed = ConcurrentHashMap.newKeySet();

    // For the thread only.
    private final Set<WakeupSubscriber> subscribers = new LinkedHashSet<>();
    private boolean proofIsPlanned;
    private @Nullable SubscriptionConnection connection;
    private boolean retryIsPlanned;

    WakeupSubscriptions(RedisConnectionFactory connections, RedisKeys keys) {
        this(connections, keys, DEAD_AFTER);
    }

    /** @param deadAfter time without a proof, although Redis accepts its numbers, after which all is subscribed anew */
    WakeupSubscriptions(RedisConnectionFactory connections, RedisKeys keys, Duration deadAfter) {
        this(connections, keys, deadAfter, task -> daemon(task, "delay-queue-wakeups"));
    }

    WakeupSubscriptions(RedisConnectionFactory connections, RedisKeys keys, Duration deadAfter, ThreadFactory threads) {
        this.deadAfter = SubscriptionConnection.leavesNoThread(connections) ? deadAfter : Subscription.UNPROVEN;
        this.connections = connections;
        this.keys = keys;
        this.proof = new WakeupProof(connections, keys, System::nanoTime, this::mayHaveMissed);
        this.thread = new ScheduledThreadPoolExecutor(1, threads);
        // With one shard it has something to do only at the start, at the stop, and when Redis is away: it ends in
        // between.
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    Subscription subscribe(Collection<ShardKey> shards, WakeupListener listener) {
        Map<String, ShardKey> byChannel =
                shards.stream().distinct().collect(Collectors.toMap(keys::wakeup, Function.identity()));
        WakeupSubscriber subscriber = new WakeupSubscriber(byChannel, listener, confirmed);
        AtomicBoolean hasFailed = new AtomicBoolean();
        try {
            // If it cannot be started, no task waits for it. Each attempt of the caller would add one.
            thread.prestartCoreThread();
            CompletableFuture<Void> unused = begin(() -> {
                if (!hasFailed.get()) {
                    add(subscriber);
                }
            });
        } catch (OutOfMemoryError noThread) {
            // The task may wait for a thread, if the last one has just ended. The caller subscribes again, by another
            // task.
            hasFailed.set(true);
            throw noThread;
        }
        return new Subscription() {
            @Override
            public void close() {
                await(begin(() -> remove(subscriber)));
            }

            @Override
            public Duration sinceProof() {
                startThreadForTasks();
                return subscriber.isConfirmed() ? proof.age() : UNPROVEN;
            }
        };
    }

    /** Tasks that got no thread wait for one, and for one shard alone no proof would start it. Each poll of a consumer calls this. */
    private void startThreadForTasks() {
        if (thread.getQueue().isEmpty() || thread.getPoolSize() > 0) {
            return;
        }
        try {
            thread.prestartCoreThread();
        } catch (OutOfMemoryError noThread) {
            log.debug("The wakeup subscriptions have no thread yet", noThread);
        }
    }

    private void add(WakeupSubscriber subscriber) {
        subscribers.add(subscriber);
        if (!retryIsPlanned) {
            subscribeAll();
        }
    }

    @Override
    public void close() {
        CompletableFuture<Void> end;
        try {
            end = begin(this::disconnect);
        } finally {
            thread.shutdown();
        }
        await(end);
    }

    /** Subscribes anew on another connection: the server of the present one no longer serves. Returns at once. */
    void reconnect() {
        CompletableFuture<Void> unused = begin(() -> {
            disconnect();
            subscribeAll();
        });
    }

    private CompletableFuture<Void> begin(Runnable task) {
        try {
            return CompletableFuture.runAsync(task, thread);
        } catch (RejectedExecutionException e) {
            log.debug("The store is closed, so nothing is subscribed any more", e);
            return CompletableFuture.completedFuture(null);
        }
    }

    /** Waits at most a second, so that the owner of the connections does not close them before the subscriptions end. */
    private static void await(CompletableFuture<Void> task) {
        task.completeOnTimeout(null, 1, TimeUnit.SECONDS).join();
    }

    /**
     * Subscribes the subscribers that have no subscription yet. The first one whose server is away ends this, and comes last in the
     * next attempt: the thread waits for one server at a time, and in a cluster the others get their turn.
     */
    private void subscribeAll() {
        try {
            for (WakeupSubscriber subscriber : List.copyOf(subscribers)) {
                if (subscriber.subscribed) {
                    continue;
                }
                DataAccessException silence = silence(subscriber);
                if (silence != null) {
                    subscribers.remove(subscriber);
                    subscribers.add(subscriber);
                    again(silence);
                    return;
                }
                connected().subscribe(subscriber, subscriber.channels());
                subscriber.subscribed = true;
            }
            planProof();
        } catch (Throwable e) {
            // For example, a thread could not be started. No other code would try again.
            disconnect();
            again(e);
        }
    }

    /**
     * Sends a command to the server of a shard. While that is away, no connection of subscriptions is opened.
     *
     * @return null if there is a reply, also a refusal
     */
    private @Nullable DataAccessException silence(WakeupSubscriber subscriber) {
        try (RedisConnection redis = connections.getConnection()) {
            redis.keyCommands().exists(RedisKeys.bytes(keys.settings(subscriber.oneShard())));
            return null;
        } catch (DataAccessException e) {
            return ErrorReply.of(e) == null ? e : null;
        }
    }

    /** For one shard alone a proof costs as much as the claims that it saves. */
    @SuppressWarnings("FutureReturnValueIgnored") // a proof throws nothing
    private void planProof() {
        int shards = subscribers.stream().mapToInt(WakeupSubscriber::shards).sum();
        if (shards < 2 || proofIsPlanned || thread.isShutdown()) {
            return;
        }
        proofIsPlanned = true;
        thread.schedule(this::prove, WakeupProof.INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void prove() {
        proofIsPlanned = false;
        if (connection == null) {
            return;
        }
        if (proof.isMissing(deadAfter)) {
            log.debug("Wakeups do not arrive, although Redis accepts them. The subscriptions are made anew");
            disconnect();
            subscribeAll();
        } else {
            try {
                proof.send();
            } finally {
                planProof();
            }
        }
    }

    private void mayHaveMissed() {
        CompletableFuture<Void> unused = begin(() -> subscribers.forEach(WakeupSubscriber::begin));
    }

    /** A driver that does not connect again by itself has lost the connection of all subscriptions. */
    private void lost(SubscriptionConnection broken, Throwable failure) {
        if (broken == connection) {
            forget();
            again(failure);
        }
    }

    /** One retry serves all subscribers, and a failure before it changes nothing. */
    @SuppressWarnings("FutureReturnValueIgnored") // a try throws nothing
    private void again(Throwable failure) {
        if (retryIsPlanned) {
            log.debug("Redis accepts no wakeup subscription. The next attempt is planned.", RedisReply.safe(failure));
            return;
        }
        SubscriptionRefusal refusal = SubscriptionRefusal.of(failure, keys.allWakeups());
        retryIsPlanned = !thread.isShutdown(); // also if the refusal is final: then nothing is tried again
        if (retryIsPlanned && (refusal == null || !refusal.isFinal())) {
            thread.schedule(
                    this::retry, refusal == null ? PAUSE_MILLIS : PAUSE_AFTER_REFUSAL_MILLIS, TimeUnit.MILLISECONDS);
        }
        if (refusal == null) {
            log.debug(
                    "Redis accepts no wakeup subscription at the moment. The next attempt follows in a second.",
                    RedisReply.safe(failure));
        } else {
            log.warn(
                    "Messages that are due earlier than those before them may be a second late, because there are no"
                            + " wakeup subscriptions: {}",
                    LogText.of(refusal.text()));
        }
    }

    private void retry() {
        retryIsPlanned = false;
        subscribeAll();
    }

    private void remove(WakeupSubscriber subscriber) {
        subscribers.remove(subscriber);
        if (subscribers.isEmpty()) {
            disconnect();
        } else if (subscriber.subscribed && connection != null) {
            try {
                connection.unsubscribe(subscriber);
            } catch (RuntimeException e) {
                log.debug("A wakeup subscription did not end cleanly", e);
            }
        }
    }

    private void forget() {
        connection = null;
        confirmed.clear();
        subscribers.forEach(subscriber -> subscriber.subscribed = false);
    }

    private void disconnect() {
        SubscriptionConnection current = connection;
        forget();
        if (current != null) {
            try {
                current.close();
            } catch (Throwable e) {
                log.debug("The wakeup subscriptions did not end cleanly", e);
            }
        }
    }

    private SubscriptionConnection connected() {
        SubscriptionConnection current = connection;
        if (current == null) {
            current = new SubscriptionConnection(connections, "delay-queue-wakeups-connection", (broken, failure) -> {
                CompletableFuture<Void> unused = begin(() -> lost(broken, failure));
            });
            connection = current; // before it may fail, so that it is closed then
            proof.begin();
            current.subscribe(proof, List.of(proof.channel()));
        }
        return current;
    }

    private static Thread daemon(Runnable task, String name) {
        return DetachedThread.of(name, task);
    }
}
