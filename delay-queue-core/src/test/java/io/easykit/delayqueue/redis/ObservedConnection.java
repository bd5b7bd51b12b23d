package io.easykit.delayqueue.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.easykit.test.RawRedis;
import io.easykit.test.RawRedis.RedisError;
import io.easykit.test.RedisServer;
import io.lettuce.core.RedisCommandExecutionException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisScriptingCommands;

/**
 * The connection of a store under test. It sends commands of the test before a script, the script, and a second script that looks
 * at the keyspace, in one round trip and on one thread. Over the driver of an application these were three, which took longer than
 * the scripts.
 */
final class ObservedConnection implements AutoCloseable {

    private final RawRedis redis = RedisServer.shared().connect();
    private final List<byte[][]> next = new ArrayList<>();
    private final byte[][] look;
    private final Object proxy = Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {RedisConnectionFactory.class, RedisConnection.class, RedisScriptingCommands.class},
            (self, method, arguments) -> call(method, arguments));
    private @Nullable Object seen;

    /** @param look text of the second script */
    ObservedConnection(String look) {
        byte[] sha = (byte[]) requireNonNull(redis.command("SCRIPT", "LOAD", look));
        this.look = new byte[][] {bytes("EVALSHA"), sha, bytes("0")};
    }

    /** A factory that always returns this connection. */
    RedisConnectionFactory factory() {
        return (RedisConnectionFactory) proxy;
    }

    /** Sends a command before the next script. */
    void beforeNextScript(String... command) {
        next.add(Stream.of(command).map(ObservedConnection::bytes).toArray(byte[][]::new));
    }

    /** What the second script has returned after the last script. */
    Object seen() {
        return requireNonNull(seen);
    }

    private @Nullable Object call(Method method, Object[] arguments) {
        return switch (method.getName()) {
            case "getConnection", "scriptingCommands" -> proxy;
            case "evalSha" -> run(bytes("EVALSHA"), bytes((String) arguments[0]), arguments);
            case "eval" -> run(bytes("EVAL"), (byte[]) arguments[0], arguments);
            case "close" -> null;
            default -> throw new UnsupportedOperationException(method.toString());
        };
    }

    /** @param arguments of a method of {@link RedisScriptingCommands}: the script, its reply, how many keys, and keys and arguments */
    private @Nullable Object run(byte[] command, byte[] script, Object[] arguments) {
        List<byte[]> parts = new ArrayList<>(List.of(command, script, bytes(arguments[2].toString())));
        parts.addAll(Arrays.asList((byte[][]) arguments[3]));
        next.add(parts.toArray(byte[][]::new));
        next.add(look);
        List<@Nullable Object> replies = redis.pipeline(next);
        next.clear();
        seen = replies.get(replies.size() - 1);
        if (replies.get(replies.size() - 2) instanceof RedisError error) {
            String message = error.getMessage();
            throw new RedisSystemException(message, new RedisCommandExecutionException(message));
        }
        return replies.get(replies.size() - 2);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    @Override
    public void close() {
        redis.close();
    }
}
