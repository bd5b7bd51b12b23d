package io.easykit.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.netty.util.Timeout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Queries a sentinel once a second for the address of the master, and reports another one.
 *
 * <p>Sentinels promote a replica first, and demote the former master about ten seconds later if it is still running, as in a
 * {@code SENTINEL FAILOVER}. Until then it acts as a master: it returns values that are old, and acknowledges writes that are
 * lost. A client that stays connected cannot see that from its replies.
 *
 * <p>A sentinel may be wrong for ever: one that the others have lost, or that names a server differently. So if a new connection
 * leads to the former master again, another sentinel is queried, and the pauses before further replacements get longer.
 *
 * <p>The first call of the product begins the queries. They go on between calls, by the timer of the driver, until the factory is
 * stopped: after a pause, the first call must not go to a former master.
 */
final class SentinelWatch {

    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** Time after which the sentinels are tried again if none can be reached. The driver logs a line for each sentinel. */
    private static final Duration CONNECT_PAUSE = Duration.ofSeconds(10);

    /** Maximum time between two replacements of connections that lead to the former master again. */
    private static final Duration LONGEST_REPEAT_PAUSE = Duration.ofMinutes(1);

    /** Maximum time to wait for the reply of a sentinel. */
    private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(2);

    private static final Logger log = LoggerFactory.getLogger(SentinelWatch.class);

    private final LettuceConnectionFactory factory;
    private final String masterName;
    private final Runnable onOtherMaster;
    /** Time from which sentinels may be tried again, from {@link System#nanoTime}. */
    private volatile long connectAt = System.nanoTime();

    private final AtomicLong lastQuery = new AtomicLong(connectAt - PAUSE.toNanos());
    private final AtomicBoolean repeating = new AtomicBoolean();
    private final AtomicBoolean querying = new AtomicBoolean();
    private volatile @Nullable StatefulRedisSentinelConnection<String, String> sentinel;
    private volatile @Nullable SocketAddress connectedTo;

    /** The last address that the sentinel returned, and the one before. Used by one query at a time. */
    private volatile @Nullable String named;

    private volatile @Nullable String formerlyNamed;

    // Used by one query at a time.
    private long repeatAt = connectAt;
    private Duration repeatPause = PAUSE;

    private SentinelWatch(LettuceConnectionFactory factory, String masterName, Runnable onOtherMaster) {
        this.factory = factory;
        this.masterName = masterName;
        this.onOtherMaster = onOtherMaster;
    }

    /**
     * Returns null if the factory does not use sentinels.
     *
     * @param onOtherMaster runs on a thread of Lettuce, also if a new connection leads to the former master again
     */
    static @Nullable SentinelWatch of(
            LettuceConnectionFactory factory, SharedConnection connection, Runnable onOtherMaster) {
        RedisSentinelConfiguration configuration = factory.getSentinelConfiguration();
        String masterName = configuration == null || configuration.getMaster() == null
                ? null
                : configuration.getMaster().getName();
        if (masterName == null) {
            return null;
        }
        SentinelWatch watch = new SentinelWatch(factory, masterName, onOtherMaster);
        connection.onReconnect(address -> watch.connectedTo = address);
        return watch;
    }

    /** Begins a query if the last one is a second old, and repeats it from then on. Does not block. */
    void onCall(long now) {
        queryIfDue(now);
        if (!repeating.get() && repeating.compareAndSet(false, true)) {
            repeating.set(isRepeated());
        }
    }

    private boolean isRepeated() {
        try {
            AbstractRedisClient client = factory.getNativeClient();
            if (client == null) {
                return false;
            }
            client.getResources().timer().newTimeout(this::repeat, PAUSE.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (RuntimeException | Error failure) {
            // The factory is stopped, or the thread of the timer could not be started. The next call tries it again.
            log.trace("The sentinels are not queried until the next call", failure);
            return false;
        }
    }

    private void repeat(Timeout unused) {
        if (isRepeated()) {
            queryIfDue(System.nanoTime());
        } else {
            repeating.set(false);
        }
    }

    /** Begins a query if the last one is a second old. Does not block. */
    void queryIfDue(long now) {
        long last = lastQuery.get();
        if (now - last < PAUSE.toNanos()
                || !lastQuery.compareAndSet(last, now)
                || !querying.compareAndSet(false, true)) {
            return;
        }
        StatefulRedisSentinelConnection<String, String> present = sentinel;
        if (present != null && !present.isOpen()) {
            // The driver would connect it again, beside the next one.
            leave(present);
            present = null;
        }
        if (present == null) {
            if (now - connectAt >= 0) {
                connectAt = now + CONNECT_PAUSE.toNanos();
                connect(now);
            } else {
                querying.set(false);
            }
            return;
        }
        try {
            query(present, now);
        } catch (RuntimeException | Error justClosed) {
            querying.set(false);
            log.debug("The connection to a sentinel was just closed", justClosed);
        }
    }

    /** Whether no query is under way. */
    boolean isIdle() {
        return !querying.get();
    }

    private void connect(long now) {
        try {
            // Without the InheritableThreadLocals of the caller.
            DetachedThread.of("easykit-redis-sentinel", () -> connectAndQuery(now))
                    .start();
        } catch (Throwable noThread) {
            querying.set(false);
        }
    }

    private void connectAndQuery(long now) {
        boolean queries = false;
        try {
            if (factory.getNativeClient() instanceof RedisClient client) {
                StatefulRedisSentinelConnection<String, String> made = client.connectSentinel();
                sentinel = made;
                connectAt = now;
                query(made, now);
                queries = true;
            }
        } catch (Throwable away) {
            log.debug("No sentinel can be reached", away);
        } finally {
            if (!queries) {
                querying.set(false);
            }
        }
    }

    private void query(StatefulRedisSentinelConnection<String, String> from, long now) {
        var unused = from.async()
                .getMasterAddrByName(masterName)
                .toCompletableFuture()
                .orTimeout(REPLY_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((address, failure) -> {
                    try {
                        answered(from, now, address, failure);
                    } finally {
                        querying.set(false);
                    }
                });
    }

    private void answered(
            StatefulRedisSentinelConnection<String, String> from,
            long now,
            @Nullable SocketAddress address,
            @Nullable Throwable failure) {
        if (failure != null) {
            log.debug("A sentinel did not return the address of the master", failure);
            leave(from);
        } else if (address instanceof InetSocketAddress master) {
            compare(from, master, now);
        }
    }

    /** The next query connects to the first sentinel that can be reached, as new connections of the product do. */
    private void leave(StatefulRedisSentinelConnection<String, String> from) {
        sentinel = null;
        var unused = from.closeAsync();
    }

    private void compare(StatefulRedisSentinelConnection<String, String> from, InetSocketAddress master, long now) {
        String address = master.getHostString() + ":" + master.getPort();
        String before = named;
        named = address;
        if (before != null && !before.equals(address)) {
            formerlyNamed = before;
            onOtherMaster.run();
            return;
        }
        // The sentinel that the new connection queried may not have known yet. Or this one is wrong.
        if (!isAt(connectedTo, formerlyNamed) || isAt(connectedTo, address)) {
            repeatPause = PAUSE;
            repeatAt = now;
            return;
        }
        if (now - repeatAt < 0) {
            return;
        }
        repeatAt = now + repeatPause.toNanos();
        Duration longer = repeatPause.multipliedBy(2);
        repeatPause = longer.compareTo(LONGEST_REPEAT_PAUSE) < 0 ? longer : LONGEST_REPEAT_PAUSE;
        leave(from);
        onOtherMaster.run();
    }

    private static boolean isAt(@Nullable SocketAddress server, @Nullable String address) {
        if (address == null || !(server instanceof InetSocketAddress socket)) {
            return false;
        }
        InetAddress resolved = socket.getAddress();
        return address.equals(socket.getHostString() + ":" + socket.getPort())
                || (resolved != null && address.equals(resolved.getHostAddress() + ":" + socket.getPort()));
    }
}
