package io.easykit.cache.redis;

import io.easykit.redis.ClusterMaster;
import io.easykit.redis.ScriptExecutor;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The few commands that the protocol needs. Failures are those of the client. */
interface RedisCommands {

    /** Runs the scripts. */
    ScriptExecutor scripts();

    /** All fields of a hash. */
    CompletionStage<Map<byte[], byte[]>> readAll(byte[] key);

    /** The server's clock in ms. */
    CompletionStage<Long> time();

    /** Publishes a message. Best effort: a failure is not reported. Whether it waits for the reply depends on the client. */
    default void publish(String channel, byte[] message) {}

    /** Lets the calls until the first reply wait for longer; see {@link SlowStart}. Not with a client that waits itself. */
    default void allowSlowStart(Duration most) {}

    /** How long a call may wait that is made now. */
    default Duration limit(Duration timeout) {
        return timeout;
    }

    /** Counts a reply. */
    default void replied() {}

    /** Whether large values on the same connections explain that a call has waited for so long until now. */
    default boolean isDelayed(Duration wait) {
        return false;
    }

    /** Whether the server is a cluster, whose masters fail one by one. Fixed. */
    default boolean isCluster() {
        return false;
    }

    /** Whether all entries are on one server, so that its clock judges them. Fixed. */
    default boolean hasOneClock() {
        return !isCluster();
    }

    /** The masters of a cluster with their slots; empty if they are not known. Does not wait for the server. */
    default List<ClusterMaster> masters() {
        return List.of();
    }

    /** Runs the action when a connection was made after the first one, with the address of its server, if that is known. */
    default void onReconnect(Consumer<@Nullable SocketAddress> action) {}

    /** Commands over a connection of their own, if this one was closed on purpose and can be replaced; else these. */
    default RedisCommands reopened() {
        return this;
    }

    /** Closes the connection of reopened commands. */
    default void close() {}

    /**
     * Records that a caller got no reply in time.
     *
     * @param sent when the command was sent, by {@link System#nanoTime}
     */
    default void unanswered(byte[] key, long sent) {}
}
