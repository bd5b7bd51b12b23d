package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.LogText;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.redis.ScriptCalls.Reply;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.NotConnectedException;
import io.easykit.redis.RedisReply;
import io.easykit.redis.ReplicatedWrites.Replicated;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.PartitionSelectorException;
import java.io.IOException;
import java.net.ConnectException;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;

/**
 * Calls scripts by their SHA. If Redis does not have the script (after a restart, a flush or a fail-over), a second call
 * sends its text. While a cluster moves the slot of a shard, a call is repeated ({@link SlotRetry}).
 */
final class ScriptRunner {

    /** Errors that speak of the state of the server, which passes; other ones speak of one command, or of its rights. */
    private static final Set<String> PASSING_ERRORS = Set.of(
            "LOADING",
            "READONLY",
            "MOVED",
            "ASK",
            "MASTERDOWN",
            "CLUSTERDOWN",
            "TRYAGAIN",
            "BUSY",
            "NOREPLICAS",
            "MISCONF");

    /** Reply of Redis to a connection beyond its limit; it has no error code of its own. */
    private static final String TOO_MANY_CLIENTS = "ERR max number of clients";

    /** Redis before 7.0 puts the error of a command in a script behind a text of its own. */
    private static final Pattern IN_SCRIPT =
            Pattern.compile("ERR Error running script \\(call to \\w+\\): (@user_script: ?\\d+: )*-?");

    /** A script that passes an error on makes it one of its own from Redis 7.0 on. */
    private static final Pattern PASSED_ON = Pattern.compile("^ERR (?=[A-Z]{3,} )");

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
        this.remedies = new Remedies(keys.allWakeups(), shard -> list(LuaScript.Name.DIAGNOSE, shard, new Arguments()));
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
            throw translate("to load the scripts", e);
        }
    }

    /** A script whose reply is a list. */
    List<?> list(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return run(name, Reply.LIST, shard, arguments) instanceof List<?> reply ? reply : List.of();
    }

    /** A script whose reply is bytes, or nothing. */
    byte @Nullable [] bytes(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return run(name, Reply.BYTES, shard, arguments) instanceof byte[] reply ? reply : null;
    }

    /** A script whose reply is a text of codes, a character each. */
    byte[] codes(LuaScript.Name name, ShardKey shard, Arguments arguments) {
        return run(name, Reply.BYTES, shard, arguments) instanceof byte[] reply ? reply : new byte[0];
    }

    /**
     * A script whose reply is a text of codes, and which waits for replicas.
     *
     * @throws StoreRefusedException if the driver cannot, or the user may not run {@code WAIT}; nothing was carried out
     */
    Replicated<byte[]> replicatedCodes(LuaScript.Name name, ShardKey shard, Arguments arguments, ReplicaWait wait) {
        LuaScript script = script(name);
        byte[][] shardKeys = shardKeys(shard);
        byte[][] values = arguments.stream().toArray(byte[][]::new);
        try {
            Replicated<byte @Nullable []> replicated =
                    repeated(name, shard, bySha -> calls.replicated(script, bySha, shardKeys, values, wait));
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
        return run(name, Reply.NUMBER, shard, arguments) instanceof Long reply ? reply : 0;
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
        List<byte[][]> all = shards.stream().map(this::shardKeys).toList();
        List<CompletableFuture<@Nullable Object>> begun = calls.begin(script(name), Reply.LIST, all, values);
        for (int i = 0; i < begun.size(); i++) {
            ShardKey shard = shards.get(i);
            try {
                outcomes.put(shard, begun.get(i).get() instanceof List<?> list ? list : List.of());
            } catch (ExecutionException e) {
                outcomes.put(shard, failureOf(e.getCause()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw translate(name.file() + " on " + shard, new RedisCommandInterruptedException(e));
            }
        }
    }

    private Answer answer(LuaScript.Name name, ShardKey shard, @Nullable Object outcome) {
        return outcome instanceof RuntimeException e
                ? new Answer(shard, List.of(), translate(name.file() + " on " + shard, e, remedy(name, e, shard)))
                : new Answer(shard, (List<?>) Objects.requireNonNull(outcome), null);
    }

    private static RuntimeException failureOf(@Nullable Throwable thrown) {
        Throwable cause =
                thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        return cause instanceof DataAccessException || cause instanceof RedisException
                ? (RuntimeException) cause
                : new RedisException(cause);
    }

    private byte[][] shardKeys(ShardKey shard) {
        return new byte[][] {RedisKeys.bytes(keys.prefix(shard)), RedisKeys.bytes(keys.settings(shard))};
    }

    private @Nullable Object run(LuaScript.Name name, Reply reply, ShardKey shard, Arguments arguments) {
        LuaScript script = script(name);
        byte[][] shardKeys = shardKeys(shard);
        byte[][] values = arguments.stream().toArray(byte[][]::new);
        return this.<@Nullable Object>repeated(
                name, shard, bySha -> calls.call(script, bySha, reply, shardKeys, values));
    }

    /**
     * Makes a call, again while its slot moves, and with the text of the script if Redis does not know it.
     *
     * @param call takes whether to call the script by its SHA
     */
    private <T extends @Nullable Object> T repeated(LuaScript.Name name, ShardKey shard, Function<Boolean, T> call) {
        SlotRetry.Attempts attempts = slots.begin();
        while (true) {
            try {
                return once(call);
            } catch (DataAccessException | RedisException e) {
                if (!attempts.mayRepeat(e) || !attempts.pause()) {
                    throw translate(name.file() + " on " + shard, e, remedy(name, e, shard));
                }
            }
        }
    }

    private static <T extends @Nullable Object> T once(Function<Boolean, T> call) {
        try {
            return call.apply(true);
        } catch (DataAccessException | RedisException e) {
            if (!says(e, "NOSCRIPT")) {
                throw e;
            }
            return call.apply(false);
        }
    }

    /** Nothing was sent, so there is no doubt. */
    private static DelayQueueException notSent(String what, NotConnectedException e) {
        if (e.getCause() instanceof IllegalStateException) {
            return StoreUnavailableException.notCarriedOut(
                    "The connection to Redis is closed, because the application stops or has not started it yet, and "
                            + what
                            + " was not carried out. Send before the application context is closed, for example in a"
                            + " SmartLifecycle or a listener of ContextClosedEvent.",
                    e);
        }
        return StoreUnavailableException.notCarriedOut(
                "Redis cannot be reached, and " + what + " was not carried out: " + text(e), RedisReply.safe(e));
    }

    private String remedy(LuaScript.Name name, RuntimeException e, ShardKey shard) {
        String refusal = refusal(e);
        if (refusal == null || name == LuaScript.Name.DIAGNOSE) {
            return "";
        }
        try {
            return remedies.of(refusal, shard);
        } catch (DelayQueueException unknown) {
            return "";
        }
    }

    private LuaScript script(LuaScript.Name name) {
        return Objects.requireNonNull(scripts.get(name));
    }

    static DelayQueueException translate(String what, RuntimeException e) {
        return translate(what, e, "");
    }

    private static DelayQueueException translate(String what, RuntimeException e, String remedy) {
        Throwable cause = RedisReply.safe(e);
        if (says(e, "OOM")) {
            return new StoreFullException(
                    "Redis is out of memory and refused " + what
                            + ": nothing was stored. Free memory, or raise maxmemory.",
                    cause);
        }
        String refusal = refusal(e);
        if (refusal != null) {
            return new StoreRefusedException("Redis refused " + what + ": " + LogText.of(refusal) + remedy, cause);
        }
        if (e instanceof NotConnectedException unsent) {
            return notSent(what, unsent);
        }
        if (errorReply(e) != null) {
            return StoreUnavailableException.notCarriedOut(
                    "Redis cannot carry out " + what + " now: " + text(e), cause);
        }
        if (wasRejected(e)) {
            return StoreUnavailableException.notCarriedOut(
                    "Redis is not connected, and " + what + " was not carried out: " + text(e), cause);
        }
        return new StoreUnavailableException(
                "Redis did not answer " + what + ", so its outcome is unknown: " + text(e), cause);
    }

    /** The driver has no connection and sent nothing. */
    private static boolean wasRejected(Throwable thrown) {
        for (Throwable e = thrown; e != null; e = e.getCause()) {
            boolean isUnsent = e instanceof RedisConnectionException
                    || e instanceof PartitionSelectorException
                    || e instanceof ConnectException;
            String message = String.valueOf(e.getMessage());
            if (isUnsent || message.startsWith("Currently not connected") || message.equals("Nothing was sent")) {
                return true;
            }
        }
        return false;
    }

    private static String text(RuntimeException e) {
        String error = errorReply(e);
        return LogText.of(error == null ? RedisReply.withoutArguments(ownAndRootMessage(e)) : error);
    }

    private static String ownAndRootMessage(Throwable e) {
        Throwable root = NestedExceptionUtils.getMostSpecificCause(e);
        return e.getMessage() + (root == e ? "" : ": " + root.getMessage());
    }

    /** Returns the error of Redis if a repetition would give the same error, else null. */
    static @Nullable String refusal(Throwable thrown) {
        String error = errorReply(thrown);
        boolean passes = error == null || PASSING_ERRORS.contains(code(error)) || error.startsWith(TOO_MANY_CLIENTS);
        return passes ? null : error;
    }

    private static boolean says(RuntimeException e, String code) {
        String error = errorReply(e);
        return error != null && code(error).equals(code);
    }

    private static String code(String error) {
        return error.substring(0, Math.max(0, error.indexOf(' ')));
    }

    /**
     * Returns the error reply of Redis, or null if there was none. Drivers pass an error reply on as an exception of their
     * own; failures of the connection are Java's exceptions.
     */
    static @Nullable String errorReply(Throwable thrown) {
        for (Throwable e = thrown; e != null; e = e.getCause()) {
            String message = e.getMessage();
            if (!(e instanceof DataAccessException || e instanceof IOException)
                    && message != null
                    && message.matches("(?s)[A-Z]{2,} .*")) {
                return RedisReply.withoutArguments(PASSED_ON
                        .matcher(IN_SCRIPT.matcher(message).replaceFirst(""))
                        .replaceFirst(""));
            }
        }
        return null;
    }
}
