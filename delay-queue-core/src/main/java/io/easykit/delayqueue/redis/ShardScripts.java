package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.CallFailures;
import io.easykit.redis.ErrorReply;
import io.easykit.redis.LettuceConnector;
import io.easykit.redis.LettuceScripts;
import io.easykit.redis.LuaScript;
import io.easykit.redis.NotConnectedException;
import io.easykit.redis.ReplicatedScripts;
import io.easykit.redis.ReplicatedWrites.Replicated;
import io.easykit.redis.ScriptExecutor;
import io.easykit.redis.ScriptReply;
import io.easykit.redis.SpringCalls;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs the scripts of the queue on shards: adds the keys of the shard, repeats a call while a cluster moves the slot of the
 * shard ({@link SlotRetry}), and translates failures ({@link QueueFailures}), with a remedy for a refusal ({@link Remedies}).
 */
final class ShardScripts {

    /** Failures over a driver that waits itself, after which other shards of the same call are not tried. */
    private static final int MOST_UNANSWERED = 2;

    /** A bean may send while a cold JVM starts. */
    private static final Duration FIRST_CONNECTION = Duration.ofSeconds(5);

    private final ScriptExecutor executor;
    private final @Nullable ReplicatedScripts replicated;
    private final RedisKeys keys;
    private final SlotRetry slots;
    private final UnaryOperator<String> edit;
    private final Remedies remedies;

    /** Each script is read when it is first used, so that the start of an application does not wait for all. */
    private final Map<QueueScript, LuaScript> scripts = new ConcurrentHashMap<>();

    /**
     * @param replicated null if the driver cannot wait for replicas
     * @param slots how long calls are repeated while a cluster moves their slot
     * @param edit changes the scripts, for tests
     */
    ShardScripts(
            ScriptExecutor executor,
            @Nullable ReplicatedScripts replicated,
            RedisKeys keys,
            SlotRetry slots,
            UnaryOperator<String> edit) {
        this.executor = executor;
        this.replicated = replicated;
        this.keys = keys;
        this.slots = slots;
        this.edit = edit;
        this.remedies = new Remedies(keys.allWakeups(), slot -> list(QueueScript.DIAGNOSE, slot, new Arguments()));
    }

    /** @param onReplacement runs after a connection was replaced, because its server answered no more */
    static ShardScripts over(
            RedisConnectionFactory connections,
            RedisKeys keys,
            UnaryOperator<String> edit,
            SlotRetry slots,
            Runnable onReplacement) {
        if (connections instanceof LettuceConnectionFactory lettuce) {
            LettuceConnector connector = new LettuceConnector(lettuce, FIRST_CONNECTION);
            connector.onReplacement(onReplacement);
            ReplicatedScripts replicated = new ReplicatedScripts(lettuce, FIRST_CONNECTION);
            return new ShardScripts(new LettuceScripts(connector), replicated, keys, slots, edit);
        }
        return new ShardScripts(new SpringCalls(connections), null, keys, slots, edit);
    }

    /** See {@link ScriptExecutor#startConnecting}. */
    void startConnecting() {
        executor.startConnecting();
    }

    void loadAll() {
        try {
            for (QueueScript name : QueueScript.values()) {
                executor.load(script(name));
            }
        } catch (DataAccessException | RedisException e) {
            throw QueueFailures.translate("to load the scripts", e);
        }
    }

    /** A script whose reply is a list. */
    List<?> list(QueueScript name, ShardKey shard, Arguments arguments) {
        return list(name, keys.slot(shard), arguments);
    }

    /** A script on the registry of topics and nodes, whose reply is a list. */
    List<?> fleetList(QueueScript name, Arguments arguments) {
        return list(name, keys.fleet(), arguments);
    }

    /** A script on the registry of topics and nodes, whose reply is a whole number. */
    long fleetNumber(QueueScript name, Arguments arguments) {
        return run(name, ScriptReply.NUMBER, keys.fleet(), arguments) instanceof Long reply ? reply : 0;
    }

    /** A script on the jobs of the administration, whose reply is a list. */
    List<?> consoleList(QueueScript name, Arguments arguments) {
        return list(name, keys.console(), arguments);
    }

    /** A script on the jobs of the administration, whose reply is a whole number. */
    long consoleNumber(QueueScript name, Arguments arguments) {
        return run(name, ScriptReply.NUMBER, keys.console(), arguments) instanceof Long reply ? reply : 0;
    }

    private List<?> list(QueueScript name, RedisKeys.Slot slot, Arguments arguments) {
        return run(name, ScriptReply.LIST, slot, arguments) instanceof List<?> reply ? reply : List.of();
    }

    /** A script whose reply is bytes, or nothing. */
    byte @Nullable [] bytes(QueueScript name, ShardKey shard, Arguments arguments) {
        return run(name, ScriptReply.BYTES, keys.slot(shard), arguments) instanceof byte[] reply ? reply : null;
    }

    /** A script whose reply is a text of codes, a character each. */
    byte[] codes(QueueScript name, ShardKey shard, Arguments arguments) {
        return run(name, ScriptReply.BYTES, keys.slot(shard), arguments) instanceof byte[] reply ? reply : new byte[0];
    }

    /**
     * A script whose reply is a text of codes.
     *
     * @param isShared whether the reply concerns several threads, so that an interrupt does not end the wait for it
     */
    byte[] codes(QueueScript name, ShardKey shard, Arguments arguments, boolean isShared) {
        if (!isShared) {
            return codes(name, shard, arguments);
        }
        LuaScript script = script(name);
        RedisKeys.Slot slot = keys.slot(shard);
        byte[][] slotKeys = slot.keys();
        byte[][] values = arguments.toArray();
        Object reply = this.<@Nullable Object>repeated(
                name, slot, () -> executor.awaitUninterruptibly(script, ScriptReply.BYTES, slotKeys, values));
        return reply instanceof byte[] codes ? codes : new byte[0];
    }

    /** A script whose reply is a whole number. */
    long number(QueueScript name, ShardKey shard, Arguments arguments) {
        return run(name, ScriptReply.NUMBER, keys.slot(shard), arguments) instanceof Long reply ? reply : 0;
    }

    /**
     * A script whose reply is a text of codes, and which waits for replicas.
     *
     * @param isShared whether the reply concerns several threads, so that an interrupt does not end the wait for it
     * @throws StoreRefusedException if the driver cannot, or the user may not run {@code WAIT}; nothing was carried out
     */
    Replicated<byte[]> replicatedCodes(
            QueueScript name, ShardKey shard, Arguments arguments, ReplicaWait wait, boolean isShared) {
        ReplicatedScripts writes = replicated;
        if (writes == null) {
            throw new StoreRefusedException(
                    "Waiting for replicas needs Lettuce as the driver. Nothing was stored. Use Lettuce, or send without"
                            + " waiting for replicas.",
                    null);
        }
        LuaScript script = script(name);
        RedisKeys.Slot slot = keys.slot(shard);
        byte[][] slotKeys = slot.keys();
        byte[][] values = arguments.toArray();
        Replicated<byte @Nullable []> done = repeated(
                name,
                slot,
                () -> isShared
                        ? writes.awaitUninterruptibly(script, slotKeys, values, wait.replicas(), wait.timeout())
                        : writes.await(script, slotKeys, values, wait.replicas(), wait.timeout()));
        byte[] reply = done.reply();
        return new Replicated<>(reply == null ? new byte[0] : reply, done.replicas());
    }

    /** Closes connections that are not those of the application. */
    void close() {
        if (replicated != null) {
            replicated.close();
        }
    }

    /**
     * The reply of a shard.
     *
     * @param failure null if the shard answered
     */
    record Answer(ShardKey shard, List<?> reply, @Nullable DelayQueueException failure) {}

    /** Calls a script whose reply is a list on several shards at once, and waits for all of them. For rare calls. */
    List<Answer> lists(QueueScript name, List<ShardKey> shards, Arguments arguments) {
        byte[][] values = arguments.toArray();
        Map<ShardKey, Object> outcomes = new LinkedHashMap<>();
        SlotRetry.Attempts attempts = slots.begin();
        List<ShardKey> open = shards;
        do {
            attempt(name, open, values, outcomes);
            open = shards.stream()
                    .filter(shard -> outcomes.get(shard) instanceof RuntimeException e && attempts.mayRepeat(e))
                    .toList();
        } while (!open.isEmpty() && attempts.pause());
        return shards.stream()
                .map(shard -> answer(name, shard, outcomes.get(shard)))
                .toList();
    }

    /** One call to each shard. Keeps the reply of each, or the exception. */
    private void attempt(QueueScript name, List<ShardKey> shards, byte[][] values, Map<ShardKey, Object> outcomes) {
        Map<ShardKey, CompletionStage<@Nullable Object>> calls = new LinkedHashMap<>();
        int unanswered = 0;
        for (ShardKey shard : shards) {
            if (unanswered >= MOST_UNANSWERED) {
                outcomes.put(shard, new NotConnectedException("Two earlier calls got no answer", null));
                continue;
            }
            CompletionStage<@Nullable Object> call = executor.run(
                    script(name), ScriptReply.LIST, keys.slot(shard).keys(), values);
            calls.put(shard, call);
            unanswered += executor.isBlocking() && isUnanswered(call) ? 1 : 0;
        }
        calls.forEach((shard, call) -> outcomes.put(shard, outcomeOf(name, shard, call)));
    }

    private static boolean isUnanswered(CompletionStage<?> call) {
        return call.handle((reply, failure) -> failure != null && ErrorReply.of(failure) == null)
                .toCompletableFuture()
                .getNow(false);
    }

    /** Waits for the reply, and returns it or the exception. */
    private static Object outcomeOf(QueueScript name, ShardKey shard, CompletionStage<@Nullable Object> call) {
        try {
            return call.toCompletableFuture().get() instanceof List<?> list ? list : List.of();
        } catch (ExecutionException e) {
            return failureOf(e.getCause());
        } catch (InterruptedException e) {
            throw interrupted(name.file() + " on " + shard, e);
        }
    }

    private static DelayQueueException interrupted(String call, InterruptedException e) {
        Thread.currentThread().interrupt();
        return QueueFailures.translate(call, new RedisCommandInterruptedException(e));
    }

    private Answer answer(QueueScript name, ShardKey shard, @Nullable Object outcome) {
        return outcome instanceof RuntimeException e
                ? new Answer(shard, List.of(), translated(name, keys.slot(shard), e))
                : new Answer(shard, (List<?>) Objects.requireNonNull(outcome), null);
    }

    private static RuntimeException failureOf(@Nullable Throwable thrown) {
        Throwable cause = thrown == null ? null : CallFailures.unwrapped(thrown);
        return cause instanceof DataAccessException || cause instanceof RedisException
                ? (RuntimeException) cause
                : new RedisException(cause);
    }

    private @Nullable Object run(QueueScript name, ScriptReply reply, RedisKeys.Slot slot, Arguments arguments) {
        LuaScript script = script(name);
        byte[][] slotKeys = slot.keys();
        byte[][] values = arguments.toArray();
        return this.<@Nullable Object>repeated(name, slot, () -> executor.await(script, reply, slotKeys, values));
    }

    /** Makes a call, again while its slot moves. */
    private <T extends @Nullable Object> T repeated(QueueScript name, RedisKeys.Slot slot, Supplier<T> call) {
        SlotRetry.Attempts attempts = slots.begin();
        while (true) {
            try {
                return call.get();
            } catch (DataAccessException | RedisException e) {
                if (!attempts.mayRepeat(e) || !attempts.pause()) {
                    throw translated(name, slot, e);
                }
            }
        }
    }

    private DelayQueueException translated(QueueScript name, RedisKeys.Slot slot, RuntimeException failure) {
        return QueueFailures.translate(name.file() + " on " + slot.name(), failure, remedy(name, slot, failure));
    }

    private String remedy(QueueScript name, RedisKeys.Slot slot, RuntimeException failure) {
        ErrorReply refusal = QueueFailures.refusal(failure);
        if (refusal == null || name == QueueScript.DIAGNOSE) {
            return "";
        }
        try {
            return remedies.of(refusal, slot);
        } catch (DelayQueueException unknown) {
            return "";
        }
    }

    private LuaScript script(QueueScript name) {
        return scripts.computeIfAbsent(name, first -> first.load(edit));
    }
}
