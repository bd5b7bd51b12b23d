package io.easykit.redis;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs commands on the shared connection of a Lettuce factory, and replaces the connection when its server fails.
 *
 * <h2>Why</h2>
 *
 * Lettuce reconnects when a connection is closed. Three failures leave the connection open: the master hangs, its
 * address vanishes without a reset, or it becomes a replica. Sentinel then promotes another server, but the client
 * keeps using the old one: until TCP gives up (about 15 minutes), or until the old master resumes and acknowledges
 * writes that are lost when it is demoted.
 *
 * <h2>Rules</h2>
 *
 * <ul>
 *   <li>If a server sends no reply, and no part of a large one, for {@link #SILENCE}, the connection is replaced. The
 *       new one queries the sentinels, or resolves the address again.
 *   <li>An error that only another server can resolve ({@code READONLY}, {@code MASTERDOWN}), or a connection that is
 *       lost for {@link #DISCONNECTED}, has the same effect at once.
 *   <li>In a cluster each node is watched separately, and the topology is refreshed instead, after
 *       {@link #SILENCE_BEFORE_REFRESH}, so that connections to healthy nodes stay. Only a node that is silent for
 *       {@link #SILENCE_OF_A_NODE} although it is still the master causes the connections to all nodes to be replaced.
 *   <li>Connecting runs on a separate thread. Callers wait for it as for a reply, at most for the command timeout. If a
 *       caller has given up by then, its command is not sent.
 *   <li>A connection that took {@link #SLOW_CONNECT} or longer is made a second time: its server may be a former master
 *       that hung, and another one may have been promoted since the address was resolved. In a cluster this is not
 *       needed, because nodes redirect commands.
 *   <li>A failed connection attempt is repeated, also without further calls, for {@link #WANTED} after the last call.
 *       So an application that calls once a second finds a promoted server as soon as one that calls all the time.
 * </ul>
 *
 * Commands in flight on a replaced connection fail. Whether they ran is unknown.
 */
public final class LettuceConnector {

    /** Longer than a pause of a garbage collector or a fork. Sentinel and Cluster take longer to promote. */
    static final Duration SILENCE = Duration.ofSeconds(2);

    /**
     * Silence after which the topology of a cluster is refreshed. A refresh costs no connection and takes two seconds
     * while a node is silent, so it begins before a replica is promoted.
     */
    static final Duration SILENCE_BEFORE_REFRESH = Duration.ofSeconds(1);

    static final Duration SILENCE_OF_A_NODE = Duration.ofSeconds(6);

    static final Duration DISCONNECTED = Duration.ofMillis(500);

    static final Duration SLOW_CONNECT = Duration.ofMillis(500);

    /** Minimum time between two replacements, or two refreshes. */
    private static final Duration LEAST_PAUSE = Duration.ofSeconds(1);

    /** Time between two attempts to connect while connections are refused. */
    private static final Duration CONNECT_PAUSE = Duration.ofMillis(50);

    /** Time between two attempts to connect while no caller waits for a connection. */
    private static final Duration REPEAT_PAUSE = Duration.ofMillis(200);

    /** Time after the last call during which failed attempts are repeated. */
    static final Duration WANTED = Duration.ofSeconds(5);

    /** Lettuce completes a timed-out command by its own timer, which may be late. */
    private static final Duration TIMER_SLACK = Duration.ofMillis(200);

    private static final String SINGLE = "";

    /** Prefix that Redis 7 and later put before an error returned by a script. */
    private static final String OF_A_SCRIPT = "ERR ";

    /** Redis 6.2 wraps the error of a command in a script: the code follows a dash. */
    private static final List<String> MENDED_BY_ANOTHER_SERVER = List.of("READONLY ", "MASTERDOWN ");

    private static final Logger log = LoggerFactory.getLogger(LettuceConnector.class);

    private final LettuceConnectionFactory factory;
    private final Transfers transfers;
    private final Duration commandTimeout;
    private final Duration firstConnectionTimeout;
    private final Duration silenceOfANode;
    private final AtomicReference<@Nullable Attempt> connection = new AtomicReference<>();
    private final Map<String, ReplyWatch> watches = new ConcurrentHashMap<>();
    private final AtomicLong lastReplacement = new AtomicLong(System.nanoTime() - LEAST_PAUSE.toNanos());
    private final AtomicLong lastRefresh = new AtomicLong(System.nanoTime() - LEAST_PAUSE.toNanos());
    private final List<Runnable> replacementActions = new CopyOnWriteArrayList<>();
    private final List<Consumer<SocketAddress>> reconnectActions = new CopyOnWriteArrayList<>();
    private final Reconnects reconnects = new Reconnects();
    private volatile long wantedAt;
    private volatile boolean replace;
    private volatile boolean everConnected;

    /**
     * @param factory started and stopped by the caller; must share its native connection, which is the default
     * @param firstConnectionTimeout maximum time to wait for the very first connection, which takes a new JVM longer
     *     than a reply; later connections use the command timeout
     */
    public LettuceConnector(LettuceConnectionFactory factory, Duration firstConnectionTimeout) {
        this(factory, DedicatedConnections.commandTimeoutOf(factory), firstConnectionTimeout);
    }

    /**
     * @param factory as above
     * @param commandTimeout maximum time to wait for a reply, and for a connection
     * @param firstConnectionTimeout as above
     */
    public LettuceConnector(
            LettuceConnectionFactory factory, Duration commandTimeout, Duration firstConnectionTimeout) {
        this(factory, commandTimeout, firstConnectionTimeout, SILENCE_OF_A_NODE);
    }

    LettuceConnector(
            LettuceConnectionFactory factory,
            Duration commandTimeout,
            Duration firstConnectionTimeout,
            Duration silenceOfANode) {
        this.factory = factory;
        this.transfers = Transfers.of(factory);
        this.commandTimeout = commandTimeout;
        this.firstConnectionTimeout = firstConnectionTimeout;
        this.silenceOfANode = silenceOfANode;
    }

    /**
     * Registers an action that runs each time a connection is replaced, on the thread that detected the fault. It must
     * return at once.
     */
    public void onReplacement(Runnable action) {
        replacementActions.add(action);
    }

    /**
     * Registers an action that runs after each connection but the first, with the address of its server, on a thread of
     * Lettuce. It must return at once. Connections to sentinels, and connections that only read the topology of a
     * cluster, do not count. In a cluster the action also runs for each new master, as soon as a refresh of
     * the topology finds it, because Lettuce connects to it only with the next command.
     */
    public void onReconnect(Consumer<SocketAddress> action) {
        reconnectActions.add(action);
    }

    /**
     * Returns the masters of a cluster that serve slots, from the driver's present topology. Does not block.
     *
     * @return empty if this is not a cluster, or if there is no connection
     */
    public List<ClusterMaster> masters() {
        Attempt present = connection.get();
        if (present == null
                || !present.isConnected()
                || present.isOver(factory)
                || !(factory.getNativeClient() instanceof RedisClusterClient cluster)) {
            return List.of();
        }
        List<ClusterMaster> masters = new ArrayList<>();
        for (RedisClusterNode node : cluster.getPartitions()) {
            BitSet slots = new BitSet(SlotHash.SLOT_COUNT);
            node.forEachSlot(slots::set);
            if (!slots.isEmpty()) {
                String address = node.getUri().getHost() + ":" + node.getUri().getPort();
                masters.add(new ClusterMaster(address, slots));
            }
        }
        return masters;
    }

    /**
     * Sends a command and waits for its reply. Waits at most twice the command timeout: once for a connection, once for
     * the reply.
     *
     * @param key a key of the command; selects the node in a cluster
     * @throws RedisCommandInterruptedException if the thread is interrupted; its interrupt flag stays set. If it was
     *     set before the call, nothing is sent
     * @throws NotConnectedException if there was no connection; nothing was sent
     * @throws RedisException if there was no reply in time, or an error reply
     */
    public <T> T await(
            byte[] key, Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        if (Thread.currentThread().isInterrupted()) {
            // Fail always. Otherwise the result would depend on the speed of the reply.
            throw new RedisCommandInterruptedException(new InterruptedException("Nothing was sent"));
        }
        CompletableFuture<T> reply = call(key, command).toCompletableFuture();
        try {
            return reply.get(
                    connectWait().plus(commandTimeout).plus(TIMER_SLACK).toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisCommandInterruptedException(e);
        } catch (ExecutionException e) {
            throw rethrown(e.getCause());
        } catch (TimeoutException e) {
            throw noConnectionOrReply();
        }
    }

    /** Last resort: the future has its own timeout. */
    private RedisException noConnectionOrReply() {
        Attempt present = connection.get();
        return present != null && !present.isDone()
                ? new NotConnectedException("No connection to Redis in time", null)
                : new RedisCommandTimeoutException("No reply within " + commandTimeout);
    }

    /**
     * Sends a command.
     *
     * @param key a key of the command; selects the node in a cluster
     */
    public <T> CompletionStage<T> call(
            byte[] key, Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        Attempt attempt = connected();
        long asked = System.nanoTime();
        if (attempt.isConnected()) {
            // Every cache hit passes here: only the stage that watches the reply is allocated.
            return watched(key, asked, attempt.join(), command);
        }
        wantedAt = asked;
        Duration connectWait = connectWait();
        CompletableFuture<T> reply = attempt.thenCompose(redis -> {
            long now = System.nanoTime();
            return now - asked < connectWait.toNanos()
                    ? watched(key, now, redis, command)
                    : CompletableFuture.failedFuture(new NotConnectedException("No connection to Redis in time", null));
        });
        return reply.orTimeout(connectWait.plus(commandTimeout).toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Records that a caller has stopped waiting for a reply. Needed only for a factory whose commands have no timeout.
     * {@link DedicatedConnections#copyOf} sets one, so the connector detects it.
     *
     * @param key of the command
     * @param sent time at which it was sent, from {@link System#nanoTime}
     */
    public void unanswered(byte[] key, long sent) {
        Attempt present = connection.get();
        if (present != null && present.isConnected()) {
            onFailure(watchOf(key), sent, new RedisCommandTimeoutException("No reply within " + commandTimeout));
        }
    }

    private Duration connectWait() {
        return everConnected ? commandTimeout : firstConnectionTimeout;
    }

    /** Drops the present connection. The next command opens another one. */
    public void replaceConnection() {
        Attempt present = connection.get();
        if (present != null && present.isDone() && connection.compareAndSet(present, null)) {
            replace = true;
            watches.clear();
            replacementActions.forEach(Runnable::run);
        }
    }

    private <T> CompletionStage<T> watched(
            byte[] key,
            long sent,
            RedisClusterAsyncCommands<byte[], byte[]> redis,
            Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        CompletionStage<T> reply;
        try {
            reply = command.apply(redis);
        } catch (RuntimeException notSent) {
            reply = CompletableFuture.failedFuture(notSent);
        }
        ReplyWatch watch = watchOf(key);
        return reply.whenComplete((value, failure) -> {
            if (failure == null) {
                watch.answered();
            } else {
                onFailure(watch, sent, failure);
            }
        });
    }

    private ReplyWatch watchOf(byte[] key) {
        return watches.computeIfAbsent(nodeOf(key), node -> new ReplyWatch());
    }

    /** Names the node that serves the key, as far as the driver knows. */
    String nodeOf(byte[] key) {
        if (factory.getNativeClient() instanceof RedisClusterClient cluster) {
            RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key));
            return node == null ? SINGLE : node.getNodeId();
        }
        return SINGLE;
    }

    private void onFailure(ReplyWatch watch, long sent, Throwable failure) {
        if (failure instanceof RedisCommandExecutionException error) {
            watch.answered();
            if (isMendedByAnotherServer(error)) {
                leave("its server replies " + firstWord(error), LEAST_PAUSE);
            }
            return;
        }
        boolean silent = failure instanceof RedisCommandTimeoutException;
        if (silent && transfers.explain(commandTimeout)) {
            watch.answered();
            return;
        }
        Duration unanswered = watch.unanswered(sent);
        if (unanswered.compareTo(silent ? silence() : DISCONNECTED) >= 0) {
            leave(silent ? "its server does not reply" : "it is lost", unanswered);
        }
    }

    private void leave(String reason, Duration unanswered) {
        AbstractRedisClient client = factory.getNativeClient();
        if (client instanceof RedisClusterClient cluster && unanswered.compareTo(silenceOfANode) < 0) {
            if (isDue(lastRefresh)) {
                log.debug("Refreshing the topology of the Redis cluster, because of a connection: {}", reason);
                refresh(cluster);
            }
        } else if (isDue(lastReplacement)) {
            log.info(
                    "Replacing the connection to Redis, because {}. Commands in flight fail; later ones use"
                            + " the new connection.",
                    reason);
            replaceConnection();
            wantedAt = System.nanoTime();
            var unused = connected();
        }
    }

    private Duration silence() {
        return factory.getNativeClient() instanceof RedisClusterClient ? SILENCE_BEFORE_REFRESH : SILENCE;
    }

    private void refresh(RedisClusterClient cluster) {
        List<ClusterMaster> before = masters();
        cluster.refreshPartitionsAsync().whenComplete((done, failure) -> {
            if (failure != null) {
                log.debug("The topology of the Redis cluster could not be refreshed", failure);
                return;
            }
            masters().stream()
                    .filter(master -> !before.contains(master))
                    .forEach(master -> reconnectActions.forEach(action -> action.accept(master.socketAddress())));
        });
    }

    private static boolean isDue(AtomicLong last) {
        long before = last.get();
        long now = System.nanoTime();
        return now - before >= LEAST_PAUSE.toNanos() && last.compareAndSet(before, now);
    }

    private static boolean isMendedByAnotherServer(RedisCommandExecutionException error) {
        return isMendedByAnotherServer(String.valueOf(error.getMessage()));
    }

    static boolean isMendedByAnotherServer(String message) {
        return MENDED_BY_ANOTHER_SERVER.stream()
                .anyMatch(code -> message.startsWith(code)
                        || message.startsWith(OF_A_SCRIPT + code)
                        || message.contains("-" + code));
    }

    private static String firstWord(RedisCommandExecutionException error) {
        String message = String.valueOf(error.getMessage());
        return MENDED_BY_ANOTHER_SERVER.stream()
                .filter(message::contains)
                .findFirst()
                .orElse("")
                .strip();
    }

    private RuntimeException rethrown(@Nullable Throwable cause) {
        Throwable failure = cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
        if (failure instanceof RuntimeException known) {
            return known;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof TimeoutException) {
            return noConnectionOrReply();
        }
        return new RedisException(failure);
    }

    private Attempt connected() {
        Attempt present = connection.get();
        return present == null || present.isOver(factory) ? connect(present) : present;
    }

    private Attempt connect(@Nullable Attempt over) {
        Attempt attempt = new Attempt();
        if (!connection.compareAndSet(over, attempt)) {
            Attempt other = connection.get();
            return other != null ? other : connect(null);
        }
        Thread thread = new Thread(() -> connectWhileWanted(attempt), "easykit-redis-connect");
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (OutOfMemoryError noThread) {
            attempt.completeExceptionally(noThread);
        }
        return attempt;
    }

    private void connectWhileWanted(Attempt first) {
        for (Attempt attempt = first; attempt != null; attempt = repeated(attempt)) {
            complete(attempt);
        }
    }

    /**
     * Returns the next attempt; null if the last one succeeded, if another thread has started one, or if no connection
     * is wanted.
     */
    private @Nullable Attempt repeated(Attempt last) {
        if (last.isConnected()) {
            return null;
        }
        try {
            Thread.sleep(REPEAT_PAUSE.toMillis());
        } catch (InterruptedException stop) {
            return null;
        }
        boolean wanted = factory.isRunning() && System.nanoTime() - wantedAt < WANTED.toNanos();
        Attempt next = new Attempt();
        return wanted && connection.compareAndSet(last, next) ? next : null;
    }

    private void complete(Attempt attempt) {
        try (RedisConnection wrapper = freshConnection()) {
            AbstractRedisClient client = factory.getRequiredNativeClient();
            client.removeListener(reconnects);
            client.addListener(reconnects);
            attempt.complete(((LettuceConnection) wrapper).getNativeConnection());
            everConnected = true;
        } catch (RuntimeException | Error failure) {
            attempt.factoryWasStopped = !factory.isRunning();
            attempt.completeExceptionally(
                    failure instanceof Error
                            ? failure
                            : new NotConnectedException("No connection to Redis: " + failure.getMessage(), failure));
        }
    }

    private RedisConnection freshConnection() {
        if (replace) {
            replace = false;
            factory.resetConnection();
        }
        long began = System.nanoTime();
        RedisConnection fresh = factory.getConnection();
        boolean another = everConnected
                && System.nanoTime() - began >= SLOW_CONNECT.toNanos()
                && !(factory.getNativeClient() instanceof RedisClusterClient);
        return another ? anotherConnection(fresh) : fresh;
    }

    /**
     * The slow server may be a former master that hung while another one was promoted. A server that has just answered
     * is not slow for that reason.
     */
    private RedisConnection anotherConnection(RedisConnection slow) {
        slow.close();
        factory.resetConnection();
        return factory.getConnection();
    }

    /** An attempt to connect, and the connection it made. */
    private static final class Attempt extends CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> {

        private final long began = System.nanoTime();
        private volatile boolean factoryWasStopped;

        boolean isConnected() {
            return isDone() && !isCompletedExceptionally();
        }

        /** Whether connecting failed, or the factory has closed the connection, for example because it was stopped. */
        boolean isOver(LettuceConnectionFactory factory) {
            if (!isDone()) {
                return false;
            }
            if (isCompletedExceptionally()) {
                boolean startedSince = factoryWasStopped && factory.isRunning();
                return startedSince || System.nanoTime() - began >= CONNECT_PAUSE.toNanos();
            }
            return join() instanceof AbstractRedisAsyncCommands<?, ?> redis
                    && redis.getConnection() instanceof RedisChannelHandler<?, ?> handler
                    && handler.isClosed();
        }
    }

    /** Registered together with the first connection, so it is called for later ones only. */
    private final class Reconnects implements RedisConnectionStateListener {

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> made, SocketAddress address) {
            // Spring's connections use a byte array codec. Connections to sentinels and for the topology use text.
            if (made instanceof StatefulRedisConnectionImpl<?, ?> commands
                    && commands.getCodec() instanceof ByteArrayCodec) {
                reconnectActions.forEach(action -> action.accept(address));
            }
        }
    }
}
