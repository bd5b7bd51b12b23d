package io.easykit.redis;

import io.lettuce.core.protocol.CommandEncoder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Large values on their way to and from Redis, over all connections of a factory.
 *
 * <p>All commands of a connection share one line. Behind a value of a megabyte a call may wait longer than its timeout,
 * although the server is well. So a timeout only says something about the server if the line was free.
 *
 * <p>A large reply can be seen to arrive. A large request cannot be seen to leave, because the system buffers it: it counts
 * as on its way until it is answered, at most for the time that a slow line needs (256 KB a second, 5 s).
 */
public final class Transfers {

    /** The part of a wait during which a large value must have been on its way to explain that wait. */
    private static final int PART = 3;

    private static final Transfers NONE = new Transfers();

    private final Set<LineWatch> lines = ConcurrentHashMap.newKeySet();

    Transfers() {}

    /** Those of a factory that {@link DedicatedConnections} has made; others are not watched and have none. */
    public static Transfers of(LettuceConnectionFactory factory) {
        return DedicatedConnections.transfersOf(factory, NONE);
    }

    /** Whether large values explain that a call has waited for so long until now. */
    public boolean explain(Duration wait) {
        long now = System.nanoTime();
        for (LineWatch line : lines) {
            if (line.busy(now - wait.toNanos(), now) * PART >= wait.toNanos()) {
                return true;
            }
        }
        return false;
    }

    /** Watches a new connection, behind its encryption. */
    void watch(Channel channel) {
        ChannelHandlerContext encoder = channel.pipeline().context(CommandEncoder.class);
        if (encoder != null) {
            channel.pipeline().addBefore(encoder.name(), "easykit-transfers", new LineWatch(lines));
        }
    }
}
