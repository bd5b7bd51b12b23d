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
 * Runs commands on the shared connection of a Lettuce factory, and leaves a server that no longer serves.
 *
 * <h2>Why</h2>
 *
 * Lettuce reconnects when a connection is closed. Three failures leave the connection open: the master hangs, its address
 * vanishes without a reset, or it becomes a replica. Sentinel then promotes another server, and the client goes on waiting
 * for the old one: until TCP gives up (about 15 minutes), or until the old master resumes and acknowledges writes that are
 * lost when it is demoted.
 *
 * <h2>What it does</h2>
 *
 * <ul>
 *   <li>No reply from a server for {@link #SILENCE}, and no part of a large one: the connection is replaced. The new one asks the sentinels, or resolves
 *       the address again.
 *   <li>An error that only another server can mend ({@code READONLY}, {@code MASTERDOWN}), or a connection that is lost for
 *       {@link #DISCONNECTED}: the same, at once.
 *   <li>In a cluster each node is watched by itself, and the topology is refreshed instead, from {@link
 *       #SILENCE_BEFORE_REFRESH} on, so that connections to healthy nodes stay. Only a node that is silent for {@link
 *       #SILENCE_OF_A_NODE} although it is still the master costs the connections to all nodes.
 *   <li>Connecting happens on a thread of its own. Callers wait for it as for a reply, never longer than the command
 *       timeout. A command whose caller has given up by then is not sent.
 *   <li>A connection that took {@link #SLOW_CONNECT} or longer is made a second time: its server may be a former master that
 *       hung, and another one may have been promoted since the address was looked up. A cluster redirects instead.
 *   <li>An attempt to connect that fails is repeated, also between two calls, for {@link #WANTED} after the last call. So
 *       callers that ask once a second find a promoted server as soon as those who ask all the time.
 * </ul>
 *
 * Commands that were sent over a connection that is left fail; whether they ran is unknown.
 */
public final class LettuceConnector {

    /** Longer than a pause of a garbage collector or a fork; Sentinel and Cluster take longer to promote. */
    static final Duration SILENCE = Duration.ofSeconds(2);

    /**
     * After which the topology of a cluster is read again. That costs no connection, and takes two seconds while a node is
     * silent, so it begins before a replica is promoted.
     */
    static final Duration SILENCE_BEFORE_REFRESH = Duration.ofSeconds(1);

    static final Duration SILENCE_OF_A_NODE = Duration.ofSeconds(6);

    static final Duration DISCONNECTED = Duration.ofMillis(500);

    static final Duration SLOW_CONNECT = Duration.ofMillis(500);

    /** Between two reconnects or refreshes. */
    private static final Duration LEAST_PAUSE = Duration.ofSeconds(1);

    /** Between two attempts to connect while connections are refused. */
    private static final Duration CONNECT_PAUSE = Duration.ofMillis(50);

    /** Between two attempts to connect while nobody waits for a connection. */
    private static final Duration REPEAT_PAUSE = Duration.ofMillis(200);

    /** How long after the last call a connection counts as wanted. */
    static final Duration WANTED = Duration.ofSeconds(5);

    /** Lettuce completes a command by its own timer, which may be late. */
    private static final Duration TIMER_SLACK = Duration.ofMillis(200);

    private static final String SINGLE = "";

    /** What Redis 7 and later put before an error that a script returns. */
    private static final String OF_A_SCRIPT = "ERR ";

    /** Redis 6.2 wraps the error of a command in a script, behind a dash. */
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
     * @param factory started and stopped by the caller; shares its native connection, as is the default
     * @param firstConnectionTimeout how long callers wait for the first connection of all, which takes a new JVM longer than
     *     a reply; later ones have the command timeout
     */
    public LettuceConnector(LettuceConnectionFactory factory, Duration firstConnectionTimeout) {
        this(factory, DedicatedConnections.commandTimeoutOf(factory), firstConnectionTimeout);
    }

    /**
     * @param factory as above
     * @param commandTimeout how long callers wait for a reply, and for a connection
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

    /** Runs the action each time when a connection is left, on the thread that found the fault. It must return at once. */
    public void onReplacement(Runnable action) {
        replacementActions.add(action);
    }

    /**
     * Runs the action each time when a connection was made after the first one, with the address of its server, on a thread
     * of Lettuce. It must return at once. Connections to sentinels, and those that only read the topology of a cluster, do
     * not count. In a cluster the action also runs for each server that has become a master, as soon as a refresh of the
     * topology shows it, since Lettuce connects to it only with the next command.
     */
    public void onReconnect(Consumer<SocketAddress> action) {
        reconnectActions.add(action);
    }

    /**
     * The masters of a cluster that serve slots, as the driver knows them. Does not wait.
     *
     * @return empty if this is no cluster, or nothing is connected
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
     * Sends a command and waits for its reply, at most about twice the command timeout: once for a connection, once for
     * the reply.
     *
     * @param key a key of the command, which decides the node in a cluster
     * @throws RedisCommandInterruptedException if the thread is interrupted, which it remains. One that was interrupted
     *     before sends nothing
     * @throws NotConnectedException if there was no connection, so nothing was sent
     * @throws RedisException as Lettuce: no reply in time, or an error reply
     */
    public <T> T await(
            byte[] key, Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        if (Thread.currentThread().isInterrupted()) {
            // Otherwise it would depend on the speed of the reply whether the call succeeds.
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

    /** The future has a bound of its own, so this is a last resort. */
    private RedisException noConnectionOrReply() {
        Attempt present = connection.get();
        return present != null && !present.isDone()
                ? new NotConnectedException("No connection to Redis in time", null)
                : new RedisCommandTimeoutException("No reply within " + commandTimeout);
    }

    /**
     * Sends a command.
     *
     * @param key a key of the command, which decides the node in a cluster
     */
    public <T> CompletionStage<T> call(
            byte[] key, Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        Attempt attempt = connected();
        long asked = System.nanoTime();
        if (attempt.isConnected()) {
            // Every hit of a cache comes by: nothing is allocated here but the stage that watches the reply.
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
     * Records that a caller has given up waiting for a reply. Needed only for a factory whose commands have no timeout of
     * their own ({@link DedicatedConnections#copyOf} sets one), else the connector knows.
     *
     * @param key of the command
     * @param sent when it was sent, by {@link System#nanoTime}
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

    /** Leaves the present connection; the next command makes another one. */
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

    private String nodeOf(byte[] key) {
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
                leave("it answers " + firstWord(error), LEAST_PAUSE);
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
            leave(silent ? "it does not answer" : "the connection is lost", unanswered);
        }
    }

    private void leave(String reason, Duration unanswered) {
        AbstractRedisClient client = factory.getNativeClient();
        if (client instanceof RedisClusterClient cluster && unanswered.compareTo(silenceOfANode) < 0) {
            if (isDue(lastRefresh)) {
                log.debug("Refreshing the topology of the Redis cluster: {}", reason);
                refresh(cluster);
            }
        } else if (isDue(lastReplacement)) {
            log.info("Leaving the connection to Redis, because {}", reason);
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

    /** The next attempt; null if the last one has succeeded, or somebody else made one, or nobody wants a connection. */
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

    /** The server may have hung while another one was promoted. One that just answered is no longer slow for that reason. */
    private RedisConnection anotherConnection(RedisConnection slow) {
        slow.close();
        factory.resetConnection();
        return factory.getConnection();
    }

    /** One attempt to connect, and the connection that it made. */
    private static final class Attempt extends CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> {

        private final long began = System.nanoTime();
        private volatile boolean factoryWasStopped;

        boolean isConnected() {
            return isDone() && !isCompletedExceptionally();
        }

        /** Whether connecting failed, or the factory has closed the connection since, as it does when it is stopped. */
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

    /** Registered with the first connection, so each one that it is called for is a later one. */
    private final class Reconnects implements RedisConnectionStateListener {

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> made, SocketAddress address) {
            // Spring's connections carry bytes; those to sentinels and for the topology carry text.
            if (made instanceof StatefulRedisConnectionImpl<?, ?> commands
                    && commands.getCodec() instanceof ByteArrayCodec) {
                reconnectActions.forEach(action -> action.accept(address));
            }
        }
    }
}
