package io.easykit.redis;

import io.lettuce.core.RedisException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Runs scripts over Lettuce itself: a call waits for a connection and a reply within the command timeout, however Redis fails. */
public final class LettuceScripts implements ScriptExecutor {

    private static final byte[] ANY_KEY = {};

    private final LettuceConnector connector;

    public LettuceScripts(LettuceConnector connector) {
        this.connector = connector;
    }

    @Override
    public void startConnecting() {
        connector.startConnecting();
    }

    @Override
    public CompletionStage<@Nullable Object> run(
            LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
        return connector
                .<@Nullable Object>call(
                        keys[0], redis -> redis.evalsha(script.sha(), reply.ofLettuce(), keys, arguments))
                .exceptionallyCompose(failure -> ErrorReply.isUnknownScript(failure)
                        ? connector.<@Nullable Object>call(
                                keys[0], redis -> redis.eval(script.bytes(), reply.ofLettuce(), keys, arguments))
                        : CompletableFuture.failedStage(failure));
    }

    @Override
    public @Nullable Object await(LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
        return await(script, reply, keys, arguments, CallerWait.INTERRUPTIBLE);
    }

    @Override
    public @Nullable Object awaitUninterruptibly(
            LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
        return await(script, reply, keys, arguments, CallerWait.UNINTERRUPTIBLE);
    }

    private @Nullable Object await(
            LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments, CallerWait wait) {
        try {
            return connector.<@Nullable Object>await(
                    keys[0], redis -> redis.evalsha(script.sha(), reply.ofLettuce(), keys, arguments), wait);
        } catch (RedisException failure) {
            if (!ErrorReply.isUnknownScript(failure)) {
                throw failure;
            }
            return connector.<@Nullable Object>await(
                    keys[0], redis -> redis.eval(script.bytes(), reply.ofLettuce(), keys, arguments), wait);
        }
    }

    @Override
    public void load(LuaScript script) {
        connector.await(ANY_KEY, redis -> redis.scriptLoad(script.bytes()));
    }

    @Override
    public boolean isBlocking() {
        return false;
    }
}
