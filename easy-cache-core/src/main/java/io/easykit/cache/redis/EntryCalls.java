package io.easykit.cache.redis;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.CallFailures;
import io.easykit.redis.ScriptExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls on one key: removes a key of another type and repeats the call once, waits at most for the command timeout, and
 * translates failures.
 */
final class EntryCalls {

    private final RedisCommands commands;
    private final Duration timeout;

    /** @param timeout how long a caller waits for a reply */
    EntryCalls(RedisCommands commands, Duration timeout) {
        this.commands = commands;
        this.timeout = timeout;
    }

    /** Reads all fields of a hash. */
    CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
        return commands.readAll(key)
                .exceptionallyCompose(failure -> CacheFailures.isWrongType(failure)
                        ? runOnce(CacheScript.REMOVE_WRONG_TYPE, key, List.of()).thenApply(removed -> Map.of())
                        : CompletableFuture.failedStage(failure));
    }

    /** Runs a script. */
    CompletionStage<@Nullable Object> run(CacheScript script, byte[] key, List<byte[]> arguments) {
        return runOnce(script, key, arguments)
                .exceptionallyCompose(failure -> CacheFailures.isWrongType(failure)
                        ? runOnce(CacheScript.REMOVE_WRONG_TYPE, key, List.of())
                                .thenCompose(removed -> runOnce(script, key, arguments))
                        : CompletableFuture.failedStage(failure));
    }

    private CompletionStage<@Nullable Object> runOnce(CacheScript script, byte[] key, List<byte[]> arguments) {
        ScriptExecutor scripts = commands.scripts();
        return scripts.run(script.lua(), script.reply(), new byte[][] {key}, arguments.toArray(byte[][]::new));
    }

    /** Loads all scripts. */
    void loadScripts() {
        try {
            for (CacheScript script : CacheScript.values()) {
                commands.scripts().load(script.lua());
            }
        } catch (RuntimeException failure) {
            throw translate(failure);
        }
    }

    /** Sends all before it waits for the first; a client that waits itself does so for one dead server only once. */
    void forEach(
            Collection<? extends CacheKey<?>> keys, Function<CacheKey<?>, CompletionStage<@Nullable Object>> command) {
        List<CompletionStage<@Nullable Object>> replies = new ArrayList<>(keys.size());
        for (CacheKey<?> key : keys) {
            CompletionStage<@Nullable Object> reply = command.apply(key);
            replies.add(reply);
            if (hasServerFailure(reply)) {
                break;
            }
        }
        replies.forEach(this::await);
    }

    private static boolean hasServerFailure(CompletionStage<?> reply) {
        try {
            reply.toCompletableFuture().getNow(null);
            return false;
        } catch (CompletionException failed) {
            return CacheFailures.translate(CallFailures.unwrapped(failed)).isServerFailure();
        }
    }

    /**
     * Waits for a reply.
     *
     * @throws StoreUnavailableException if the call failed, or there is no reply in time
     */
    <T extends @Nullable Object> T await(CompletionStage<T> reply) {
        CompletableFuture<T> future = reply.toCompletableFuture();
        try {
            return future.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            future.cancel(false);
            throw translate(late);
        } catch (ExecutionException failed) {
            throw translate(CallFailures.unwrapped(failed));
        } catch (InterruptedException stop) {
            future.cancel(false);
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("Interrupted while waiting for Redis", false, stop);
        }
    }

    private StoreUnavailableException translate(Throwable failure) {
        return CallFailures.isTimeout(failure) && commands.isDelayed(timeout)
                ? CacheFailures.delayed(failure)
                : CacheFailures.translate(failure);
    }
}
