package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.easykit.cache.Outcome;
import io.easykit.redis.ScriptReply;
import io.easykit.test.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * Runs the shipped scripts on a real Redis, on any state of one key and at any time.
 *
 * <p>Time is a number of ticks, which a test moves. One tick is 1,000 seconds of Redis's, so that nothing expires by
 * itself while a test runs and a remaining life is a whole number of ticks, however slow the machine. The line of a
 * script that reads the time reads a key instead; the rest of it is as shipped.
 *
 * <p>The effect of a script depends on the entry, the time and its arguments alone. So results of earlier calls can be
 * reused ({@code remember}), which makes many millions of schedules affordable.
 */
final class Laboratory implements AutoCloseable {

    static final String TIME_LINE = "local time = redis.call('TIME')";
    private static final String TEST_TIME_LINE = "local time = {redis.call('GET', 'clock'), '0'}";

    private static final long TICK_MILLIS = 1_000_000;
    private static final long FIRST_TICK = 1_700_000;
    /** Remaining life of a key in its last tick, in ms: long for a test, and less than a tick. */
    private static final long LAST_MOMENT = TICK_MILLIS / 10;

    private static final byte[] KEY = "entry".getBytes(ISO_8859_1);
    private static final byte[] CLOCK = "clock".getBytes(ISO_8859_1);

    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final RedisAsyncCommands<byte[], byte[]> redis;
    private final boolean remember;
    private final Map<CacheScript, String> shas = new EnumMap<>(CacheScript.class);
    private final Map<Entry.Content, Entry> entries = new HashMap<>();
    private final Map<Call, Result> known = new HashMap<>();
    private int calls;

    Laboratory(RedisServer server, ScriptTexts scripts, boolean remember) {
        this.client = RedisClient.create(RedisURI.create(server.uri()));
        this.connection = client.connect(ByteArrayCodec.INSTANCE);
        this.redis = connection.async();
        this.remember = remember;
        for (CacheScript script : CacheScript.values()) {
            shas.put(script, get(redis.scriptLoad(withTestTime(scripts.of(script)))));
        }
    }

    /** The entry after a script, and the reply of the script; bulk strings are in Latin-1. */
    record Result(Entry entry, Object reply) {

        /** Of a fetch. */
        Outcome outcome() {
            return Outcome.valueOf((String) list().get(1));
        }

        /** Of the value that a fetch brought. */
        int version() {
            return Entry.versionOf(((String) list().get(2)).substring(10));
        }

        /** The load lease that a fetch brought. */
        String loadLease() {
            return (String) list().get(3);
        }

        private List<?> list() {
            return (List<?>) reply;
        }
    }

    private record Call(Entry entry, int clock, CacheScript script, List<String> arguments) {}

    Entry nothing() {
        return interned(Entry.Content.NOTHING);
    }

    Result run(Entry entry, int clock, CacheScript script, List<String> arguments) {
        Call call = new Call(entry, clock, script, arguments);
        Result result = remember ? known.get(call) : null;
        if (result == null) {
            result = execute(call);
            if (remember) {
                known.put(call, result);
            }
        }
        return result;
    }

    /** How many scripts have run. */
    int calls() {
        return calls;
    }

    static String millis(int ticks) {
        return Long.toString(ticks * TICK_MILLIS);
    }

    static long serverMillis(int tick) {
        return (FIRST_TICK + tick) * TICK_MILLIS;
    }

    static int tickOf(long serverMillis) {
        return (int) Math.round((serverMillis - FIRST_TICK * TICK_MILLIS) / (double) TICK_MILLIS);
    }

    /** One transaction, in which Redis's own clock stands still: not even a key with 1 ms to live goes meanwhile. */
    @SuppressWarnings("FutureReturnValueIgnored") // EXEC brings all replies
    private Result execute(Call call) {
        calls++;
        connection.setAutoFlushCommands(false);
        redis.multi();
        redis.del(KEY);
        if (call.entry.exists()) {
            IdentityHashMap<byte[], byte[]> fields = new IdentityHashMap<>();
            call.entry.fields().forEach((name, value) -> fields.put(bytes(name), bytes(value)));
            redis.hset(KEY, fields);
            redis.pexpire(KEY, Math.max((call.entry.deadline() - call.clock) * TICK_MILLIS, LAST_MOMENT));
        }
        redis.set(CLOCK, bytes(Long.toString(serverMillis(call.clock) / 1000)));
        redis.evalsha(
                shas.get(call.script),
                call.script.reply() == ScriptReply.LIST ? ScriptOutputType.MULTI : ScriptOutputType.INTEGER,
                new byte[][] {KEY},
                call.arguments.stream().map(Laboratory::bytes).toArray(byte[][]::new));
        redis.hgetall(KEY);
        redis.pttl(KEY);
        Future<TransactionResult> exec = redis.exec();
        connection.flushCommands();
        connection.setAutoFlushCommands(true);
        TransactionResult replies = get(exec);
        int last = replies.size() - 1;
        Object reply = replies.get(last - 2);
        if (reply instanceof Exception failure) {
            throw new AssertionError(call.script + " failed on " + call.entry, failure);
        }
        return new Result(entry(replies.get(last - 1), replies.get(last), call.clock), texts(reply));
    }

    private Entry entry(Map<byte[], byte[]> fields, long life, int clock) {
        TreeMap<String, String> texts = new TreeMap<>();
        fields.forEach((name, value) -> texts.put(text(name), text(value)));
        int deadline = life < 0 ? Entry.NEVER : clock + (int) Math.round(life / (double) TICK_MILLIS);
        return interned(new Entry.Content(texts, deadline));
    }

    private Entry interned(Entry.Content content) {
        return entries.computeIfAbsent(content, Entry.Content::toEntry);
    }

    private static String withTestTime(String script) {
        return script.contains("redis.call('TIME')")
                ? ScriptTexts.replaceOnce(script, TIME_LINE, TEST_TIME_LINE)
                : script;
    }

    private static Object texts(Object reply) {
        if (reply instanceof List<?> list) {
            return list.stream().map(Laboratory::texts).toList();
        }
        return reply instanceof byte[] bytes ? text(bytes) : reply == null ? "" : reply;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, ISO_8859_1);
    }

    private static <T> T get(Future<T> reply) {
        try {
            return reply.get();
        } catch (ExecutionException failure) {
            throw new IllegalStateException(failure);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stop);
        }
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
