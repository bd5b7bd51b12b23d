package io.easykit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Writes to Redis and waits until replicas have the writes, with one {@code WAIT} for all writes that come together.
 *
 * <h2>Why connections of its own</h2>
 *
 * Redis executes nothing of a connection while it waits there, and {@code WAIT} refers to the last write of the connection. So
 * these writes do not share a connection with other commands. There is one connection for each master, with the watch of
 * {@link LettuceConnector}: a server that no longer serves is left as elsewhere.
 *
 * <h2>Batches</h2>
 *
 * While a {@code WAIT} is on its way to a master, writes to that master gather. They leave together, with one {@code WAIT}
 * behind them, when the one before is answered. So a write waits for one batch before its own at most. Writes that wait for
 * another number of replicas, or for another time, go in a batch of their own.
 *
 * <h2>No false confirmation</h2>
 *
 * Writes and their {@code WAIT} are handed to the connection as one piece. Otherwise the connection could be made again in
 * between, to a promoted replica that lacks the write, and the {@code WAIT} would succeed there. A write that changes nothing,
 * because an earlier attempt has done so, is confirmed as well: the server takes the offset behind each command, not only
 * behind changes. A {@code WAIT} that fails or gets no reply confirms nothing.
 */
public final class ReplicatedWrites implements AutoCloseable {

    private static final Duration TIMER_SLACK = Duration.ofMillis(200);

    private final LettuceConnectionFactory original;
    private final Duration firstConnectionTimeout;
    private final Duration silenceOfServer;
    private final Map<String, WriteLane> lanes = new ConcurrentHashMap<>();
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private @Nullable Connections connections;
    private boolean closed;
    private volatile boolean permitted;

    /** The connections, which are made at the first write. */
    private record Connections(LettuceConnectionFactory factory, LettuceConnector connector, Duration commandTimeout) {}

    /**
     * A write that was carried out.
     *
     * @param reply    of the write
     * @param replicas how many replicas are known to have it
     */
    public record Replicated<T>(T reply, int replicas) {}

    /**
     * @param original whose servers, credentials and command timeout are used. Its connections are not
     * @param firstConnectionTimeout how long callers wait for the first connection
     */
    public ReplicatedWrites(LettuceConnectionFactory original, Duration firstConnectionTimeout) {
        this(original, firstConnectionTimeout, FailureDetector.SILENCE_OF_SERVER);
    }

    ReplicatedWrites(LettuceConnectionFactory original, Duration firstConnectionTimeout, Duration silenceOfServer) {
        this.original = original;
        this.firstConnectionTimeout = firstConnectionTimeout;
        this.silenceOfServer = silenceOfServer;
    }

    /**
     * Carries out a write and waits for replicas. Waits about twice the command timeout and the replica timeout at most.
     *
     * @param key      a key of the write, which decides the master in a cluster
     * @param write    makes the command, once for each call
     * @param replicas how many replicas to wait for, at least 1
     * @param timeout  how long to wait for the replicas
     * @return with fewer replicas if they did not confirm in time, or the {@code WAIT} failed
     * @throws RedisCommandInterruptedException if the thread is interrupted, which it remains. A write that had not left is
     *     never sent, see {@link CallFailures#isNotSent}
     * @throws NotConnectedException if nothing was sent, and never will be
     * @throws RedisException as Lettuce: no reply in time, an error reply, or a user who may not run {@code WAIT}; in that
     *     case nothing is written
     */
    public <T extends @Nullable Object> Replicated<T> await(
            byte[] key, Supplier<RedisCommand<byte[], byte[], T>> write, int replicas, Duration timeout) {
        return await(key, write, replicas, timeout, CallerWait.INTERRUPTIBLE);
    }

    <T extends @Nullable Object> Replicated<T> await(
            byte[] key,
            Supplier<RedisCommand<byte[], byte[], T>> write,
            int replicas,
            Duration timeout,
            CallerWait wait) {
        if (Thread.currentThread().isInterrupted()) {
            throw new RedisCommandInterruptedException(new InterruptedException(LettuceConnector.NOTHING_SENT));
        }
        Connections own = connections();
        requirePermission(own, key);
        WriteLane.Write<T> pending = new WriteLane.Write<>(key, new AsyncCommand<>(write.get()), replicas, timeout);
        lanes.computeIfAbsent(
                        own.connector.serverOf(key),
                        server -> new WriteLane(own.connector::call, failure -> onFailure(own, failure)))
                .add(pending);
        Duration most = own.commandTimeout.plus(timeout).multipliedBy(2).plus(firstConnectionTimeout);
        try {
            return wait.get(pending.result(), most.plus(TIMER_SLACK));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisCommandInterruptedException(
                    pending.decide() ? new InterruptedException(LettuceConnector.NOTHING_SENT) : e);
        } catch (TimeoutException e) {
            throw pending.decide()
                    ? new NotConnectedException("Not sent within " + most, e)
                    : new RedisCommandTimeoutException("No reply within " + most);
        } catch (ExecutionException e) {
            throw known(e.getCause());
        }
    }

    /** Ends the connections. */
    @Override
    public synchronized void close() {
        closed = true;
        if (connections != null) {
            connections.factory.destroy();
        }
    }

    private synchronized Connections connections() {
        if (closed) {
            throw new NotConnectedException("Closed", new IllegalStateException("The connections are closed"));
        }
        Connections present = connections;
        if (present == null) {
            Duration commandTimeout = DedicatedConnections.commandTimeoutOf(original);
            LettuceConnectionFactory factory = DedicatedConnections.copyOf(original, commandTimeout);
            factory.start();
            present = new Connections(
                    factory,
                    new LettuceConnector(factory, commandTimeout, () -> firstConnectionTimeout, silenceOfServer),
                    commandTimeout);
            connections = present;
        }
        return present;
    }

    /** A write must not be made whose {@code WAIT} is refused then. */
    private void requirePermission(Connections own, byte[] key) {
        if (!permitted) {
            try {
                own.connector.await(key, commands -> ClusterTopology.onMaster(key, commands)
                        .thenCompose(master -> master.async().waitForReplication(0, 1)));
            } catch (RedisCommandExecutionException refused) {
                if (!isReplica(refused)) {
                    throw refused;
                }
                return; // the write is refused as one to a replica, which has the connection made again
            }
            permitted = true;
        }
    }

    private static boolean isReplica(RedisCommandExecutionException refused) {
        return String.valueOf(refused.getMessage()).contains("WAIT cannot be used with replica");
    }

    /** Commands that are sent to one server of a cluster are not redirected, and the driver does not notice that it should be. */
    private void onFailure(Connections own, Throwable failure) {
        boolean moved = String.valueOf(failure.getMessage()).startsWith("MOVED ");
        if (moved
                && own.factory.getNativeClient() instanceof RedisClusterClient cluster
                && refreshing.compareAndSet(false, true)) {
            cluster.refreshPartitionsAsync().whenComplete((done, ignored) -> refreshing.set(false));
        }
    }

    private static RuntimeException known(@Nullable Throwable cause) {
        Throwable failure = cause == null ? null : CallFailures.unwrapped(cause);
        return failure instanceof RuntimeException known ? known : new RedisException(failure);
    }
}
