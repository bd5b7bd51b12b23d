package io.easykit.cache.redis;

import static io.easykit.cache.redis.EntryFields.bytes;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.CallFailures;
import io.easykit.redis.ScriptExecutor;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls on one key, and several of them together: removes a key of another type and repeats the call once, waits at most for
 * the command timeout, and translates failures.
 */
final class EntryCalls {

    /** How long a fencing token outlives its load lease: a load that takes longer is not stored. */
    private static final byte[] KEEP_TOKEN = bytes(Duration.ofMinutes(2).toMillis());

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

    /** Sends the script fetch. */
    CompletionStage<@Nullable Object> fetch(byte[] name, CacheKey<?> key, long epoch, boolean allowsStale) {
        CacheOptions options = key.spec().options();
        return run(
                CacheScript.FETCH,
                name,
                List.of(
                        randomBytes(),
                        bytes(options.loadLease().toMillis()),
                        KEEP_TOKEN,
                        staleWindow(options, allowsStale),
                        bytes(options.effectiveRefreshAhead().toMillis()),
                        bytes(options.effectiveNullRefreshAhead().toMillis()),
                        bytes(epoch),
                        valueField(key)));
    }

    /** Sends the script store. */
    CompletionStage<@Nullable Object> store(
            byte[] name, CacheKey<?> key, LoadLease lease, Envelope value, Duration life) {
        return run(
                CacheScript.STORE,
                name,
                List.of(
                        lease.id(),
                        bytes(lease.epoch()),
                        value.toBytes(),
                        bytes(life.toMillis()),
                        valueField(key),
                        bytes(key.spec().options().keptPastEnd().toMillis())));
    }

    /** Whether the reply of the script store says that the value was stored. */
    static boolean isStored(@Nullable Object reply) {
        return Long.valueOf(1).equals(reply);
    }

    /**
     * Sends the script peek.
     *
     * @param past for how long after its end an expired value may be returned
     */
    CompletionStage<@Nullable Object> peek(
            byte[] name, CacheKey<?> key, long epoch, boolean allowsStale, Duration past) {
        return run(
                CacheScript.PEEK,
                name,
                List.of(
                        staleWindow(key.spec().options(), allowsStale),
                        bytes(epoch),
                        valueField(key),
                        bytes(past.toMillis())));
    }

    /** Sends the script release-load. */
    CompletionStage<@Nullable Object> release(byte[] name, LoadLease lease) {
        return run(CacheScript.RELEASE_LOAD, name, List.of(lease.id()));
    }

    private static byte[] staleWindow(CacheOptions options, boolean allowsStale) {
        return allowsStale ? staleWindow(options) : bytes(0);
    }

    static byte[] staleWindow(CacheOptions options) {
        return bytes(options.effectiveStaleWindow().toMillis());
    }

    static byte[] valueField(CacheKey<?> key) {
        return bytes(EntryFields.valueField(key.spec().fingerprint()));
    }

    private static byte[] randomBytes() {
        return ByteBuffer.allocate(4)
                .putInt(ThreadLocalRandom.current().nextInt())
                .array();
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

    /** @throws StoreUnavailableException if the call of a key failed */
    void forEach(
            Collection<? extends CacheKey<?>> keys, Function<CacheKey<?>, CompletionStage<@Nullable Object>> command) {
        failuresOfEach(keys, command).values().stream().findFirst().ifPresent(failure -> {
            throw failure;
        });
    }

    /**
     * Sends all before it waits for the first; a client that waits itself does so for one dead server only once.
     *
     * @return the failures that concern single keys
     * @throws StoreUnavailableException if a call failed for another reason
     */
    Map<CacheKey<?>, StoreUnavailableException> failuresOfEach(
            Collection<? extends CacheKey<?>> keys, Function<CacheKey<?>, CompletionStage<@Nullable Object>> command) {
        Map<CacheKey<?>, CompletionStage<@Nullable Object>> replies = new LinkedHashMap<>();
        for (CacheKey<?> key : keys) {
            CompletionStage<@Nullable Object> reply = command.apply(key);
            replies.put(key, reply);
            if (hasServerFailure(reply)) {
                break;
            }
        }
        Map<CacheKey<?>, StoreUnavailableException> failed = new LinkedHashMap<>();
        replies.forEach((key, reply) -> {
            try {
                await(reply);
            } catch (StoreUnavailableException failure) {
                if (!failure.isOfSingleKey()) {
                    throw failure;
                }
                failed.put(key, failure);
            }
        });
        return failed;
    }

    /**
     * Sends all before it waits for the first, and waits for all together no longer than for one. A client that waits itself
     * does so for a dead server only once.
     */
    <C, T> List<EntryReply<T>> callAll(List<? extends C> calls, Function<C, Sent<T>> send) {
        boolean blocking = commands.scripts().isBlocking();
        List<Sent<T>> all = new ArrayList<>(calls.size());
        for (C call : calls) {
            Sent<T> last = all.isEmpty() ? null : all.get(all.size() - 1);
            boolean away = blocking && last != null && hasServerFailure(last.reply);
            all.add(away ? last : send.apply(call));
        }
        return replies(all, System.nanoTime() + limit());
    }

    private <T> List<EntryReply<T>> replies(List<Sent<T>> all, long end) {
        List<EntryReply<T>> replies = new ArrayList<>(all.size());
        StoreUnavailableException late = null;
        for (Sent<T> one : all) {
            CompletableFuture<?> future = one.reply.toCompletableFuture();
            if (late != null && !future.isDone()) {
                future.cancel(false);
                replies.add(EntryReply.failed(late));
                continue;
            }
            EntryReply<T> reply = EntryReply.of(() -> one.await(this, Math.max(0, end - System.nanoTime())));
            replies.add(reply);
            late = reply.failure() != null && System.nanoTime() - end >= 0 ? reply.failure() : late;
        }
        return replies;
    }

    /** Whether a call waits for its reply on the thread of its caller. */
    boolean areBlocking() {
        return commands.scripts().isBlocking();
    }

    /** The reply of a call that was sent, when it is there: at the latest after the command timeout. */
    <T> CompletableFuture<T> later(Sent<T> sent) {
        return sent.later(this);
    }

    private <R extends @Nullable Object, T> CompletableFuture<T> later(
            CompletionStage<R> reply, Function<R, T> reader) {
        return reply.toCompletableFuture()
                .orTimeout(limit(), TimeUnit.NANOSECONDS)
                .handle((value, failure) -> {
                    if (failure != null) {
                        throw translate(CallFailures.unwrapped(failure));
                    }
                    commands.replied();
                    return reader.apply(value);
                });
    }

    /** A command that was sent. */
    static final class Sent<T> {

        private final CompletionStage<?> reply;
        private final BiFunction<EntryCalls, Long, T> await;
        private final Function<EntryCalls, CompletableFuture<T>> later;

        private Sent(
                CompletionStage<?> reply,
                BiFunction<EntryCalls, Long, T> await,
                Function<EntryCalls, CompletableFuture<T>> later) {
            this.reply = reply;
            this.await = await;
            this.later = later;
        }

        /** @param reader reads the reply, on the thread that waits for it or completes it */
        static <R extends @Nullable Object, T> Sent<T> of(CompletionStage<R> reply, Function<R, T> reader) {
            return new Sent<>(
                    reply,
                    (calls, nanos) -> reader.apply(calls.await(reply.toCompletableFuture(), nanos)),
                    calls -> calls.later(reply, reader));
        }

        private T await(EntryCalls calls, long nanos) {
            return await.apply(calls, nanos);
        }

        private CompletableFuture<T> later(EntryCalls calls) {
            return later.apply(calls);
        }
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
        return await(reply.toCompletableFuture(), limit());
    }

    private <T extends @Nullable Object> T await(CompletableFuture<T> future, long nanos) {
        try {
            T reply = future.get(nanos, TimeUnit.NANOSECONDS);
            commands.replied();
            return reply;
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

    private long limit() {
        return commands.limit(timeout).toNanos();
    }

    private StoreUnavailableException translate(Throwable failure) {
        return CallFailures.isTimeout(failure) && commands.isDelayed(timeout)
                ? CacheFailures.delayed(failure)
                : CacheFailures.translate(failure);
    }
}
