package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.ShardKey;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Calls scripts by their SHA. A Redis that does not know one (restarted, flushed, failed over) is given the text in a second
 * call, which the caller does not notice.
 */
final class ScriptRunner {

    private static final List<String> PASSING_ERRORS =
            List.of("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS", "UNBLOCKED");

    private final RedisConnectionFactory connections;
    private final RedisKeys keys;
    private final Map<LuaScript.Name, LuaScript> scripts = new EnumMap<>(LuaScript.Name.class);

    ScriptRunner(RedisConnectionFactory connections, RedisKeys keys, UnaryOperator<String> edit) {
        this.connections = connections;
        this.keys = keys;
        for (LuaScript.Name name : LuaScript.Name.values()) {
            scripts.put(name, LuaScript.load(name, edit));
        }
    }

    void loadAll() {
        try (RedisConnection connection = connections.getConnection()) {
            for (LuaScript script : scripts.values()) {
                connection.scriptingCommands().scriptLoad(script.text().array());
            }
        } catch (DataAccessException e) {
            throw translate("load the scripts", e);
        }
    }

    /** A script whose reply is a list. */
    List<?> list(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return run(name, ReturnType.MULTI, shard, arguments) instanceof List<?> reply ? reply : List.of();
    }

    /** A script whose reply is a whole number. */
    long number(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return run(name, ReturnType.INTEGER, shard, arguments) instanceof Long reply ? reply : 0;
    }

    private @Nullable Object run(LuaScript.Name name, ReturnType type, ShardKey shard, Arguments arguments) {
        LuaScript script = script(name);
        byte[][] all = Stream.concat(
                        Stream.of(RedisKeys.bytes(keys.prefix(shard)), RedisKeys.bytes(keys.settings(shard))),
                        arguments.stream())
                .toArray(byte[][]::new);
        try (RedisConnection connection = connections.getConnection()) {
            try {
                return connection.scriptingCommands().evalSha(script.sha(), type, 2, all);
            } catch (DataAccessException e) {
                if (!says(e, "NOSCRIPT")) {
                    throw e;
                }
                return connection.scriptingCommands().eval(script.text().array(), type, 2, all);
            }
        } catch (DataAccessException e) {
            throw translate(name.file() + " on " + shard, e);
        }
    }

    private LuaScript script(LuaScript.Name name) {
        return Objects.requireNonNull(scripts.get(name));
    }

    private static DelayQueueException translate(String what, DataAccessException e) {
        if (says(e, "OOM command not allowed")) {
            return new StoreFullException(
                    "Redis is out of memory and refused " + what
                            + ": nothing was stored. Free memory, or raise maxmemory.",
                    e);
        }
        String error = errorReply(e);
        if (error != null && PASSING_ERRORS.stream().noneMatch(error::startsWith)) {
            return new StoreRefusedException("Redis refused " + what + ": " + error, e);
        }
        return new StoreUnavailableException(
                "Redis did not carry out " + what + ", or did not answer: " + (error == null ? e.getMessage() : error),
                e);
    }

    private static boolean says(DataAccessException e, String text) {
        String error = errorReply(e);
        return error != null && error.contains(text);
    }

    /** What Redis itself said, or null if it said nothing. Drivers pass an error reply on as an exception of their own. */
    static @Nullable String errorReply(Throwable thrown) {
        for (Throwable e = thrown; e != null; e = e.getCause()) {
            String message = e.getMessage();
            if (!(e instanceof DataAccessException) && message != null && message.matches("(?s)[A-Z]{2,} .*")) {
                return message;
            }
        }
        return null;
    }
}
