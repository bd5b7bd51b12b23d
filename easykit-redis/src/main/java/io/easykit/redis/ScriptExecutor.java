package io.easykit.redis;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;

/**
 * Runs Lua scripts with the driver that the application uses: by their SHA and, if Redis does not have the script (after a
 * restart, a flush or a fail-over), again by the text, which makes it known to the server.
 *
 * <p>Calls fail with the exceptions of the driver, or of Spring Data for it, and with {@link NotConnectedException} if there
 * was no connection. {@link ErrorReply} and {@link CallFailures} classify them.
 */
public interface ScriptExecutor {

    /** Begins to connect, and does not wait for it. A driver that opens its connection with the first call does nothing. */
    default void startConnecting() {}

    /**
     * Runs a script.
     *
     * @param keys the first one selects the server in a cluster
     * @return completed within the timeouts of the driver; already, if the driver {@linkplain #isBlocking blocks}
     */
    CompletionStage<@Nullable Object> run(LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments);

    /**
     * Runs a script and waits for its reply.
     *
     * @throws io.lettuce.core.RedisException if Lettuce fails, or there is no connection
     * @throws DataAccessException if another driver fails
     */
    @Nullable Object await(LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments);

    /**
     * As {@link #await}, but an interrupt during the call does not end the wait, because the reply concerns other threads as
     * well. The thread remains interrupted. Drivers that block in a socket do not notice interrupts anyway.
     */
    default @Nullable Object awaitUninterruptibly(
            LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
        return await(script, reply, keys, arguments);
    }

    /**
     * Loads a script, in a cluster on all masters, and waits for the reply.
     *
     * @throws io.lettuce.core.RedisException as {@link #await}
     * @throws DataAccessException as {@link #await}
     */
    void load(LuaScript script);

    /** Whether {@link #run} waits for the reply on the caller's thread, so that several runs wait one after the other. */
    boolean isBlocking();
}
