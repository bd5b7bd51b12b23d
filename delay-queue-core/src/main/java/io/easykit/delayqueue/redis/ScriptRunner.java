package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.redis.ScriptCalls.Reply;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.ReplicatedWrites.Replicated;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisException;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;

/**
 * Calls scripts by their SHA. If Redis does not have the script (after a restart, a flush or a fail-over), a second call
 * sends its text. While a cluster moves the slot of a shard, a call is repeated ({@link SlotRetry}).
 */
final class ScriptRunner {

    private final ScriptCalls calls;
    private final RedisKeys keys;
    private final SlotRetry slots;
    private final Map<LuaScript.Name, LuaScript> scripts = new EnumMap<>(LuaScript.Name.class);
    private final Remedies remedies;

    /** @param slots how long calls are repeated while a cluster moves their slot */
    ScriptRunner(ScriptCalls calls, RedisKeys keys, SlotRetry slots, UnaryOperator<String> edit) {
        this.calls = calls;
        this.keys = keys;
        this.slots = slots;
        this.remedies = new Remedies(keys.allWakeups(), slot -> list(LuaScript.Name.DIAGNOSE, slot, new Arguments()));
        for (LuaScript.Name name : LuaScript.Name.values()) {
            scripts.put(name, LuaScript.load(name, edit));
        }
    }

    /** Runs the action when the connection was given up because its server no longer serves. */
    void onReplacement(Runnable action) {
        calls.onReplacement(action);
    }

    void loadAll() {
        try {
            scripts.values().forEach(calls::load);
        } catch (DataAccessException | RedisException e) {
            throw RedisFailures.translate("to load the scripts", e);
        }
    }

    /** A script whose reply is a list. */
    List<?> list(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return list(name, keys.slot(shard), arguments);
    }

    /** A script on the registry of topics and nodes, whose reply is a list. */
    List<?> fleetList(LuaScript.Name name, Arguments arguments) {
        return list(name, keys.fleet(), arguments);
    }

    /** A script on the registry of topics and nodes, whose reply is a whole number. */
    long fleetNumber(LuaScript.Name name, Arguments arguments) {
        return run(name, Reply.NUMBER, keys.fleet(), arguments) instanceof Long reply ? reply : 0;
    }

    /** A script on the registry of topics and nodes, whose reply is bytes, or nothing. */
    byte @Nullable [] fleetBytes(LuaScript.Name name, Arguments arguments) {
        return run(name, Reply.BYTES, keys.fleet(), arguments) instanceof byte[] reply ? reply : null;
    }

    private List<?> list(LuaScript.Name name, RedisKeys.Slot slot, Arguments arguments) {
        return run(name, Reply.LIST, slot, arguments) instanceof List<?> reply ? reply : List.of();
    }

    /** A script whose reply is bytes, or nothing. */
    byte @Nullable [] bytes(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return run(name, Reply.BYTES, keys.slot(shard), arguments) instanceof byte[] reply ? reply : null;
    }

    /** A script whose reply is a text of codes, a character each. */
    byte[] codes(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return run(name, Reply.BYTES, keys.slot(shard), arguments) instanceof byte[] reply ? reply : new byte[0];
    }

    /**
     * A script whose reply is a text of codes, and which waits for replicas.
     *
     * @throws StoreRefusedException if the driver cannot, or the user may not run {@code WAIT}; nothing was carried out
     */
    Replicated<byte[]> replicatedCodes(LuaScript.Name name, ShardKey shard, Arguments arguments, ReplicaWait wait) {
        LuaScript script = script(name);
        RedisKeys.Slot slot = keys.slot(shard);
        byte[][] shardKeys = slot.keys();
        byte[][] values = arguments.stream().toArray(byte[][]::new);
        try {
            Replicated<byte @Nullable []> replicated =
                    repeated(name, slot, bySha -> calls.replicated(script, bySha, shardKeys, values, wait));
            byte[] reply = replicated.reply();
            return new Replicated<>(reply == null ? new byte[0] : reply, replicated.replicas());
        } catch (UnsupportedOperationException e) {
            throw new StoreRefusedException(e.getMessage() + ". Nothing was stored; send without it.", e);
        }
    }

    void close() {
        calls.close();
    }

    /** A script whose reply is a whole number. */
    long number(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return run(name, Reply.NUMBER, keys.slot(shard), arguments) instanceof Long reply ? reply : 0;
    }

    /**
     * The reply of a shard.
     *
     * @param failure null if the shard answered
     */
    record Answer(ShardKey shard, List<?> reply, @Nullable DelayQueueException failure) {}

    /** Calls a script whose reply is a list on several shards at once, and waits for all of them. For rare calls. */
    List<Answer> lists(LuaScript.Name name, List<ShardKey> shards, Arguments arguments) {
        byte[][] values = arguments.stream().toArray(byte[][]::new);
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
    private void attempt(LuaScript.Name name, List<ShardKey> shards, byte[][] values, Map<ShardKey, Object> outcomes) {
        List<byte[][]> all =
                shards.stream().map(shard -> keys.slot(shard).keys()).toList();
        List<CompletableFuture<@Nullable Object>> begun = calls.begin(script(name), Reply.LIST, all, values);
        for (int i = 0; i < begun.size(); i++) {
            ShardKey shard = shards.get(i);
            try {
                outcomes.put(shard, begun.get(i).get() instanceof List<?> list ? list : List.of());
            } catch (ExecutionException e) {
                outcomes.put(shard, failureOf(e.getCause()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw RedisFailures.translate(name.file() + " on " + shard, new RedisCommandInterruptedException(e));
            }
        }
    }

    private Answer answer(LuaScript.Name name, ShardKey shard, @Nullable Object outcome) {
        return outcome instanceof RuntimeException e
                ? new Answer(
                        shard,
                        List.of(),
                        RedisFailures.translate(name.file() + " on " + shard, e, remedy(name, e, keys.slot(shard))))
                : new Answer(shard, (List<?>) Objects.requireNonNull(outcome), null);
    }

    private static RuntimeException failureOf(@Nullable Throwable thrown) {
        Throwable cause =
                thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        return cause instanceof DataAccessException || cause instanceof RedisException
                ? (RuntimeException) cause
                : new RedisException(cause);
    }

    private @Nullable Object run(LuaScript.Name name, Reply reply, RedisKeys.Slot slot, Arguments arguments) {
        LuaScript script = script(name);
        byte[][] slotKeys = slot.keys();
        byte[][] values = arguments.stream().toArray(byte[][]::new);
        return this.<@Nullable Object>repeated(name, slot, bySha -> calls.call(script, bySha, reply, slotKeys, values));
    }

    /**
     * Makes a call, again while its slot moves, and with the text of the script if Redis does not know it.
     *
     * @param call takes whether to call the script by its SHA
     */
    private <T extends @Nullable Object> T repeated(
            LuaScript.Name name, RedisKeys.Slot slot, Function<Boolean, T> call) {
        SlotRetry.Attempts attempts = slots.begin();
        while (true) {
            try {
                return once(call);
            } catch (DataAccessException | RedisException e) {
                if (!attempts.mayRepeat(e) || !attempts.pause()) {
                    throw RedisFailures.translate(name.file() + " on " + slot.name(), e, remedy(name, e, slot));
                }
            }
        }
    }

    private static <T extends @Nullable Object> T once(Function<Boolean, T> call) {
        try {
            return call.apply(true);
        } catch (DataAccessException | RedisException e) {
            if (!RedisFailures.says(e, "NOSCRIPT")) {
                throw e;
            }
            return call.apply(false);
        }
    }

    private String remedy(LuaScript.Name name, RuntimeException e, RedisKeys.Slot slot) {
        String refusal = RedisFailures.refusal(e);
        if (refusal == null || name == LuaScript.Name.DIAGNOSE) {
            return "";
        }
        try {
            return remedies.of(refusal, slot);
        } catch (DelayQueueException unknown) {
            return "";
        }
    }

    private LuaScript script(LuaScript.Name name) {
        return Objects.requireNonNull(scripts.get(name));
    }
}
