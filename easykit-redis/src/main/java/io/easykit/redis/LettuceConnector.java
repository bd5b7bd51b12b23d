package io.easykit.redis;

import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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
 *   <li>If a server sends no reply, and no part of a large one, for {@link FailureDetector#SILENCE}, the connection is replaced. The
 *       new one queries the sentinels, or resolves the address again.
 *   <li>An error that only another server can resolve ({@code READONLY}, {@code MASTERDOWN}), or a connection that is
 *       lost for {@link FailureDetector#DISCONNECTED}, has the same effect at once.
 *   <li>If the sentinels name another master, the connection is replaced, although the former one still replies
 *       ({@link SentinelWatch}).
 *   <li>In a cluster each server is watched separately, and the topology is refreshed instead, after
 *       {@link FailureDetector#SILENCE_BEFORE_REFRESH}. If a server is silent for {@link FailureDetector#SILENCE_OF_SERVER} although
 *       it is still the master, the connections to it are made again. Connections to healthy servers always stay, and a refresh
 *       makes no others ({@link ClusterClient}).
 *   <li>Connecting runs on a separate thread. Callers wait for it as for a reply, at most for the command timeout. If a
 *       caller has given up by then, its command is not sent.
 *   <li>A connection that took {@link SharedConnection#SLOW_CONNECT} or longer is made a second time: its server may be a former master
 *       that hung, and another one may have been promoted since the address was resolved. In a cluster this is not
 *       needed, because servers redirect commands.
 *   <li>A failed connection attempt is repeated, also without further calls, for {@link SharedConnection#WANTED} after the last call.
 *       So an application that calls once a second finds a promoted server as soon as one that calls all the time.
 * </ul>
 *
 * Commands in flight on a replaced connection fail. Whether they ran is unknown.
 *
 * <p>{@link SharedConnection} makes and drops the connection, {@link FailureDetector} decides when to leave a server, and
 * {@link ClusterTopology} lists the servers of a cluster.
 */
public final class LettuceConnector {

    /** Message of a call that was interrupted before it began. */
    static final String NOTHING_SENT = "Nothing was sent";

    /** Lettuce completes a timed-out command by its own timer, which may be late. */
    private static final Duration TIMER_SLACK = Duration.ofMillis(200);

    private final SharedConnection connection;
    private final ClusterTopology topology;
    private final FailureDetector failures;
    private final @Nullable SentinelWatch sentinels;
    private final Duration commandTimeout;
    private final Supplier<Duration> firstConnectionTimeout;

    /**
     * @param factory started and stopped by the caller; must share its native connection, which is the default
     * @param firstConnectionTimeout maximum time to wait for the very first connection, which takes a new JVM longer
     *     than a reply; later connections use the command timeout
     */
    public LettuceConnector(LettuceConnectionFactory factory, Duration firstConnectionTimeout) {
        this(factory, DedicatedConnections.commandTimeoutOf(factory), () -> firstConnectionTimeout);
    }

    /**
     * @param factory as above
     * @param commandTimeout maximum time to wait for a reply, and for a connection
     * @param firstConnectionTimeout as above, for each call anew
     */
    public LettuceConnector(
            LettuceConnectionFactory factory, Duration commandTimeout, Supplier<Duration> firstConnectionTimeout) {
        this(factory, commandTimeout, firstConnectionTimeout, FailureDetector.SILENCE_OF_SERVER);
    }

    LettuceConnector(
            LettuceConnectionFactory factory,
            Duration commandTimeout,
            Supplier<Duration> firstConnectionTimeout,
            Duration silenceOfServer) {
        this.connection = new SharedConnection(factory);
        this.topology = new ClusterTopology(factory, connection);
        this.failures =
                new FailureDetector(connection, topology, Transfers.of(factory), commandTimeout, silenceOfServer);
        this.sentinels = SentinelWatch.of(factory, connection, failures::otherMaster);
        this.commandTimeout = commandTimeout;
        this.firstConnectionTimeout = firstConnectionTimeout;
    }

    /**
     * Registers an action that runs each time a connection is replaced, on the thread that detected the fault. It must
     * return at once.
     */
    public void onReplacement(Runnable action) {
        connection.onReplacement(action);
    }

    /**
     * Registers an action that runs after each connection but the first, with the address of its server, on a thread of
     * Lettuce. It must return at once. Subscriptions, connections to sentinels, and those that only read the topology of a
     * cluster do not count. In a cluster the action also runs for each new master, as soon as a refresh of
     * the topology finds it, because Lettuce connects to it only with the next command.
     */
    public void onReconnect(Consumer<SocketAddress> action) {
        connection.onReconnect(action);
    }

    /**
     * Returns the masters of a cluster that serve slots, from the driver's present topology. Does not block. Masters that are new
     * since the last call are reported to the actions of {@link #onReconnect}.
     *
     * @return empty if this is not a cluster, or if there is no connection
     */
    public List<ClusterMaster> masters() {
        return topology.masters();
    }

    /** Begins to connect, and does not wait for it. The first call then waits for less time, or not at all. */
    public void startConnecting() {
        connection.want(System.nanoTime());
        SharedConnection.Attempt unused = connection.get();
    }

    /** Names the server of the key, as far as the driver knows. */
    String serverOf(byte[] key) {
        return topology.serverOf(key);
    }

    /**
     * Sends a command and waits for its reply. Waits at most twice the command timeout: once for a connection, once for
     * the reply.
     *
     * @param key a key of the command; selects the server in a cluster
     * @throws RedisCommandInterruptedException if the thread is interrupted; its interrupt flag stays set. If it was
     *     set before the call, or there is no connection yet, nothing is sent
     * @throws NotConnectedException if there was no connection; nothing was sent
     * @throws RedisException if there was no reply in time, or an error reply
     */
    public <T> T await(
            byte[] key, Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        return await(key, command, CallerWait.INTERRUPTIBLE);
    }

    <T> T await(
            byte[] key,
            Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command,
            CallerWait wait) {
        if (Thread.currentThread().isInterrupted()) {
            // Always fail, so that the result does not depend on how fast the reply comes.
            throw new RedisCommandInterruptedException(new InterruptedException(NOTHING_SENT));
        }
        CompletableFuture<T> reply = call(key, command).toCompletableFuture();
        try {
            return wait.get(reply, connectWait().plus(commandTimeout).plus(TIMER_SLACK));
        } catch (InterruptedException e) {
            // A command that waits for a connection is not sent then: the caller may cancel it by another one.
            reply.cancel(false);
            Thread.currentThread().interrupt();
            throw new RedisCommandInterruptedException(e);
        } catch (ExecutionException e) {
            throw rethrown(e.getCause());
        } catch (TimeoutException e) {
            throw noReply();
        }
    }

    private RedisException noReply() {
        return new RedisCommandTimeoutException("No reply within " + commandTimeout);
    }

    /**
     * Sends a command.
     *
     * @param key a key of the command; selects the server in a cluster
     */
    public <T> CompletionStage<T> call(
            byte[] key, Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        SharedConnection.Attempt attempt = connection.get();
        long asked = System.nanoTime();
        if (sentinels != null) {
            sentinels.onCall(asked);
        }
        if (attempt.isConnected()) {
            // Every cache hit passes here: only the stage that watches the reply is allocated.
            RedisClusterAsyncCommands<byte[], byte[]> redis = attempt.join();
            CompletableFuture<?> line = topology.lineOf(key, redis);
            if (line.isDone() && !line.isCompletedExceptionally()) {
                return watched(key, asked, redis, command);
            }
        } else {
            connection.want(asked);
        }
        return whenConnected(key, asked, attempt, command);
    }

    /**
     * Sends the command once there is a connection, also to the server of its key. The driver of a cluster would queue it until
     * then, without a timeout, and send what is queued in any order: also after its caller has given up, and behind the command
     * by which the caller cancels it. A command whose connection came late has less time for its reply.
     */
    private <T> CompletionStage<T> whenConnected(
            byte[] key,
            long asked,
            SharedConnection.Attempt attempt,
            Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        Duration connectWait = connectWait();
        Duration most = connectWait.plus(commandTimeout);
        CompletableFuture<T> reply = new CompletableFuture<>();
        var unused = attempt.thenCompose(redis -> System.nanoTime() - asked < connectWait.toNanos()
                        ? lineOf(key, asked, redis)
                        : CompletableFuture.failedFuture(
                                new NotConnectedException("No connection to Redis in time", null)))
                .orTimeout(most.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((redis, failure) -> {
                    if (failure != null) {
                        if (CallFailures.unwrapped(failure) instanceof TimeoutException && attempt.isConnected()) {
                            unanswered(key, asked);
                        }
                        reply.completeExceptionally(CallFailures.ofUnsent(CallFailures.unwrapped(failure)));
                    } else if (!reply.isDone()) {
                        send(key, redis, command, reply);
                    }
                });
        return reply.orTimeout(most.plus(TIMER_SLACK).toNanos(), TimeUnit.NANOSECONDS);
    }

    private CompletionStage<RedisClusterAsyncCommands<byte[], byte[]>> lineOf(
            byte[] key, long asked, RedisClusterAsyncCommands<byte[], byte[]> redis) {
        return topology.lineOf(key, redis).handle((line, failure) -> {
            if (failure != null) {
                failures.failed(failures.watchOf(key), asked, failure);
                throw new CompletionException(CallFailures.unwrapped(failure));
            }
            return redis;
        });
    }

    private <T> void send(
            byte[] key,
            RedisClusterAsyncCommands<byte[], byte[]> redis,
            Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command,
            CompletableFuture<T> reply) {
        var unused = watched(key, System.nanoTime(), redis, command).whenComplete((value, failure) -> {
            if (failure == null) {
                reply.complete(value);
            } else {
                reply.completeExceptionally(failure);
            }
        });
    }

    /**
     * Records that a caller has stopped waiting for a reply. Needed only for a factory whose commands have no timeout.
     * {@link DedicatedConnections#copyOf} sets one, so the connector detects it.
     *
     * @param key of the command
     * @param sent time at which it was sent, from {@link System#nanoTime}
     */
    public void unanswered(byte[] key, long sent) {
        if (connection.isConnected()) {
            failures.failed(
                    failures.watchOf(key), sent, new RedisCommandTimeoutException("No reply within " + commandTimeout));
        }
    }

    private Duration connectWait() {
        return connection.wasEverConnected() ? commandTimeout : firstConnectionTimeout.get();
    }

    /** Drops the present connection. The next command opens another one. */
    public void replaceConnection() {
        failures.replaceConnection();
    }

    private <T> CompletionStage<T> watched(
            byte[] key,
            long sent,
            RedisClusterAsyncCommands<byte[], byte[]> redis,
            Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
        CompletionStage<T> reply;
        try {
            reply = command.apply(redis);
        } catch (RuntimeException | Error notSent) {
            reply = CompletableFuture.failedFuture(notSent);
        }
        ReplyWatch watch = failures.watchOf(key);
        return reply.whenComplete((value, failure) -> {
            if (failure == null) {
                watch.answered();
            } else {
                failures.failed(watch, sent, failure);
            }
        });
    }

    private RuntimeException rethrown(@Nullable Throwable cause) {
        Throwable failure = cause == null ? null : CallFailures.unwrapped(cause);
        if (failure instanceof RuntimeException known) {
            return known;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof TimeoutException) {
            return noReply();
        }
        return new RedisException(failure);
    }
}
