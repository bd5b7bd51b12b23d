package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Objects.requireNonNull;

import io.easykit.cache.Outcome;
import io.easykit.test.RawRedis;
import io.easykit.test.RawRedis.RedisError;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

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
    private static final String TEST_TIME_LINE = "local time = {now, '0'}";

    /**
     * A script with the entry before it and after it, in one round trip, in which Redis's own clock stands still. The keys behind
     * the first are the time, the life of the entry, and its fields.
     *
     * <p>Returns the life after the script, whether its reply is a list, how many names and values of fields follow, these, and the
     * reply. One flat list: Redis sends each list in a list with a system call of its own.
     */
    private static final String EXPERIMENT =
            """
            local now, life = KEYS[2], KEYS[3]
            redis.call('DEL', KEYS[1])
            if #KEYS > 3 then
              redis.call('HSET', KEYS[1], unpack(KEYS, 4))
              redis.call('PEXPIRE', KEYS[1], life)
            end
            local KEYS = {KEYS[1]}
            local function script()
            %s
            end
            local reply, fields = script(), redis.call('HGETALL', KEYS[1])
            local all = {redis.call('PTTL', KEYS[1]), type(reply) == 'table' and 1 or 0, #fields, unpack(fields)}
            if type(reply) ~= 'table' then reply = {reply} end
            for i = 1, #reply do all[3 + #fields + i] = reply[i] end
            return all""";

    private static final long TICK_MILLIS = 1_000_000;
    private static final long FIRST_TICK = 1_700_000;

    /** So many results are remembered: about 1 GB. */
    private static final int MOST_KNOWN = 2_000_000;

    /** Remaining life of a key in its last tick, in ms: long for a test, and less than a tick. */
    private static final long LAST_MOMENT = TICK_MILLIS / 10;

    private final RawRedis redis;
    private final boolean remember;
    private final Map<CacheScript, byte[]> shas = new EnumMap<>(CacheScript.class);
    private final Map<Entry.Content, Entry> entries = new HashMap<>();
    private final Map<Call, Result> known = new HashMap<>();
    private int calls;

    Laboratory(RedisServer server, ScriptTexts scripts, boolean remember) {
        this.redis = server.connect();
        this.remember = remember;
        for (CacheScript script : CacheScript.values()) {
            String experiment = EXPERIMENT.formatted(withTestTime(scripts.of(script)));
            shas.put(script, (byte[]) requireNonNull(redis.command("SCRIPT", "LOAD", experiment)));
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

    private record Call(Entry entry, int clock, CacheScript script, List<String> arguments) {

        /** Spelled out as in {@link World}, for the same reason. */
        @Override
        public int hashCode() {
            return 31 * (31 * (31 * System.identityHashCode(entry) + clock) + script.hashCode()) + arguments.hashCode();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Call call
                    && entry == call.entry
                    && clock == call.clock
                    && script == call.script
                    && arguments.equals(call.arguments);
        }
    }

    Entry nothing() {
        return interned(Entry.Content.NOTHING);
    }

    Result run(Entry entry, int clock, CacheScript script, List<String> arguments) {
        Call call = new Call(entry, clock, script, arguments);
        Result result = remember ? known.get(call) : null;
        if (result == null) {
            result = execute(call);
            if (remember) {
                if (known.size() == MOST_KNOWN) {
                    known.clear();
                }
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

    private Result execute(Call call) {
        calls++;
        List<byte[]> command = new ArrayList<>();
        command.add(bytes("EVALSHA"));
        command.add(shas.get(call.script));
        command.add(bytes(Integer.toString(3 + 2 * call.entry.fields().size())));
        command.add(bytes("entry"));
        command.add(bytes(Long.toString(serverMillis(call.clock) / 1000)));
        command.add(bytes(Long.toString(Math.max((call.entry.deadline() - call.clock) * TICK_MILLIS, LAST_MOMENT))));
        call.entry.fields().forEach((name, value) -> {
            command.add(bytes(name));
            command.add(bytes(value));
        });
        call.arguments.forEach(argument -> command.add(bytes(argument)));
        try {
            List<?> after = (List<?>) requireNonNull(redis.command(command.toArray(byte[][]::new)));
            int end = 3 + ((Long) after.get(2)).intValue();
            Entry entry = entry(after.subList(3, end), (Long) after.get(0), call.clock);
            List<?> reply = after.subList(end, after.size());
            boolean isList = after.get(1).equals(1L);
            return new Result(entry, texts(isList ? reply : reply.isEmpty() ? null : reply.get(0)));
        } catch (RedisError failure) {
            throw new AssertionError(call.script + " failed on " + call.entry, failure);
        }
    }

    private Entry entry(List<?> fields, long life, int clock) {
        TreeMap<String, String> texts = new TreeMap<>();
        for (int i = 0; i < fields.size(); i += 2) {
            texts.put(text((byte[]) fields.get(i)), text((byte[]) fields.get(i + 1)));
        }
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

    private static Object texts(@Nullable Object reply) {
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

    @Override
    public void close() {
        redis.close();
    }
}
