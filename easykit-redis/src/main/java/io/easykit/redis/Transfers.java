package io.easykit.redis;

import io.lettuce.core.protocol.CommandEncoder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Detects large values in transit to and from Redis, over all connections of a factory.
 *
 * <p>All commands of a connection share one TCP stream. A command behind a value of a megabyte may wait longer than its
 * timeout although the server is healthy. So a timeout is a sign of a failed server only if the stream was free.
 *
 * <p>The arrival of a large reply is visible. The sending of a large request is not, because the operating system
 * buffers it: it counts as in transit until it is answered, at most for the time that a slow line needs (256 KB a
 * second, 5 s).
 */
public final class Transfers {

    /** A wait is explained if large values were in transit for at least one third of it. */
    private static final int PART = 3;

    private static final Transfers NONE = new Transfers();

    private final Set<LineWatch> lines = ConcurrentHashMap.newKeySet();

    Transfers() {}

    /**
     * Returns the transfers of a factory made by {@link DedicatedConnections}. Other factories are not watched and have
     * none.
     */
    public static Transfers of(LettuceConnectionFactory factory) {
        return DedicatedConnections.transfersOf(factory, NONE);
    }

    /** Returns whether large values explain a wait of this length that ends now. */
    public boolean explain(Duration wait) {
        long now = System.nanoTime();
        for (LineWatch line : lines) {
            if (line.busy(now - wait.toNanos(), now) * PART >= wait.toNanos()) {
                return true;
            }
        }
        return false;
    }

    /** Watches a new connection, inside its encryption. */
    void watch(Channel channel) {
        ChannelHandlerContext encoder = channel.pipeline().context(CommandEncoder.class);
        if (encoder != null) {
            channel.pipeline().addBefore(encoder.name(), "easykit-transfers", new LineWatch(lines));
        }
    }
}
