package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Redis does not undo the writes of a script that fails half way, for example because an ACL refuses one command.
 *
 * <p>Runs each script on each state of an entry, once for each call of it that can fail and once for each command that
 * can be refused. After each failure there must be no key without a TTL, no value readable that was not readable before,
 * no right to store that was not there before, and no reply that promises a change that was not made.
 */
class HalfScriptTests {

    private static final String KEY = "entry";
    private static final String TOKEN = "fill-tok";
    private static final int MORE_CALLS_THAN_ANY = 20;
    private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('(\\w+)'");

    private final RawRedis redis = RedisServer.shared().connect();
    private final Map<String, String> shas = new HashMap<>();

    /** Commands that are sent together with the next script. */
    private final List<byte[][]> planted = new ArrayList<>();

    private long now;

    /** What may lie in Redis. Times are in seconds from now. */
    private enum Seed {
        NOTHING,
        VALUE,
        STALE_VALUE,
        LATE_VALUE_AND_LOAD_LEASE,
        LATE_VALUE_AND_RELEASED_LOAD_LEASE,
        LOAD_LEASE,
        RELEASED_LOAD_LEASE,
        VALUE_AND_LOAD_LEASE,
        STALE_VALUE_AND_LOAD_LEASE,
        OWN_INTENT,
        OWN_INTENT_AND_STALE_VALUE,
        OTHER_INTENT,
        BOTH_INTENTS_AND_STALE_VALUE,
        CRASHED_INTENT_AND_VALUE,
        CRASHED_INTENT_AND_LOAD_LEASE,
        KEPT_VALUE,
        KEPT_LATE_VALUE,
        KEPT_LATE_VALUE_AND_LOAD_LEASE,
        KEPT_STALE_VALUE,
        KEPT_LATE_STALE_VALUE_AND_OWN_INTENT;

        boolean has(String part) {
            return name().contains(part);
        }
    }

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
        readClock();
    }

    /** The seeds end at times from now on: on a busy machine a test may take longer than they last. */
    private void readClock() {
        List<?> time = (List<?>) redis.command("TIME");
        now = Long.parseLong(new String((byte[]) time.get(0), ISO_8859_1)) * 1000;
    }

    @AfterEach
    void close() {
        redis.close();
    }

    @ParameterizedTest
    @EnumSource(CacheScript.class)
    void promisesNothingAndLeavesNothingBehindWhenItFails(CacheScript script) {
        List<String> broken = Stream.concat(
                        IntStream.rangeClosed(1, MORE_CALLS_THAN_ANY)
                                .mapToObj(call -> failing("calls == " + call, script)),
                        commandsOf(script).map(command -> failing("name == '" + command + "'", script)))
                .toList();
        int failures = 0;
        for (Seed seed : script == CacheScript.PROBE ? new Seed[] {Seed.NOTHING} : Seed.values()) {
            Reads before = reads(() -> plant(seed));
            Reads whole = reads(() -> {
                plant(seed);
                run(script, script.lua().text());
            });
            for (String text : broken) {
                failures += check(script, seed, text, before, whole) ? 1 : 0;
            }
        }
        assertThat(failures).as("scripts that failed half way").isGreaterThanOrEqualTo(Seed.values().length);
    }

    /**
     * Whether it failed.
     *
     * @param before what readers get without the script
     * @param whole what they get after the script as it ships
     */
    private boolean check(CacheScript script, Seed seed, String text, Reads before, Reads whole) {
        readClock();
        plant(seed);
        Object reply = run(script, text);
        Map<String, String> fields = fields();
        long life = life();
        Reads after = reads(() -> {
            plant(seed);
            run(script, text);
        });

        String at = script + " on " + seed + " with " + text.lines().findFirst().orElseThrow() + " leaves "
                + fields.keySet();
        assertThat(life).as("TTL: " + at).isNotEqualTo(-1);
        if (fields.keySet().equals(Set.of("v"))) {
            assertThat(life).as("TTL of what a plain read takes: " + at).isLessThanOrEqualTo(endOf(fields) - now + 1);
        }
        if (!(reply instanceof Exception)) {
            assertThat(after).as("promise: " + at).isEqualTo(whole);
            return false;
        }
        boolean brings = script == CacheScript.STORE;
        assertThat(after.strict).as("strict read: " + at).isIn(before.strict, null, brings ? "new!" : null);
        assertThat(after.lenient).as("lenient read: " + at).isIn(before.lenient, null, brings ? "new!" : null);
        assertThat(after.expired).as("read after a failure: " + at).isIn(before.expired, null, brings ? "new!" : null);
        assertThat(after.stores && !before.stores).as("right to store: " + at).isFalse();
        if (seed.has("OTHER_INTENT") || seed.has("BOTH_INTENTS")) {
            assertThat(after.noStore).as("the intent of another update: " + at).isTrue();
        }
        return true;
    }

    /**
     * The results of readers and a loader on an entry.
     *
     * @param strict value that a CP reader gets, null for none
     * @param lenient value that an AP reader gets, null for none
     * @param expired value that a reader gets whose load failed, null for none
     * @param stores whether a loader that was granted a load lease before may store
     * @param noStore whether the reply to a reader without a value forbids storing
     */
    private record Reads(
            @Nullable String strict,
            @Nullable String lenient,
            @Nullable String expired,
            boolean stores,
            boolean noStore) {}

    private Reads reads(Runnable state) {
        state.run();
        List<?> strict = (List<?>) fetch("0");
        state.run();
        List<?> lenient = (List<?>) fetch("30000");
        state.run();
        List<?> expired = (List<?>) eval(CacheScript.PEEK.lua().text(), "0", "0", "v", "60000");
        state.run();
        Object stored = eval(CacheScript.STORE.lua().text(), loadLease(10), "0", "new!", "300000", "v", "0");
        return new Reads(
                valueOf(strict),
                valueOf(lenient),
                expired.size() > 1 ? text(expired.get(1)).substring(10) : null,
                stored.equals(1L),
                "NEED_QUERY_NO_STORE".equals(text(strict.get(1))));
    }

    private Object fetch(String staleWindow) {
        return eval(CacheScript.FETCH.lua().text(), "read", "10000", "120000", staleWindow, "0", "0", "0", "v");
    }

    private static @Nullable String valueOf(List<?> reply) {
        boolean success = text(reply.get(1)).startsWith("SUCCESS");
        return success ? text(reply.get(2)).substring(10) : null;
    }

    private Object run(CacheScript script, String text) {
        return switch (script) {
            case FETCH -> eval(text, "call", "10000", "120000", "30000", "30000", "0", "0", "v");
            case PEEK -> eval(text, "30000", "0", "v", "60000");
            case STORE -> eval(text, loadLease(10), "0", "new!", "300000", "v", "60000");
            case RELEASE_LOAD -> eval(text, loadLease(10));
            case PREPARE -> eval(text, "own", "30000", "30000");
            case INVALIDATE -> eval(text, "own", "20000");
            case REMOVE_UNREADABLE -> eval(text, "old!", "v");
            case REMOVE_WRONG_TYPE, PROBE, EXPLAIN, ADVANCE_MARK -> eval(text);
            case RAISE_EPOCH -> eval(text, "prefix", "7", "");
            case PREPARE_CLEAR -> eval(text, "prefix", "token", "30000");
            case END_EXPIRED_CLEARS -> eval(text, "prefix", "7");
            case WORK_LEASE -> eval(text, "owner", "300000", "part");
        };
    }

    /** The script with one failure in it; the first line selects the failing call. */
    private static String failing(String when, CacheScript script) {
        return "local fails = function(calls, name) return " + when + " end\n"
                + """
                local server, calls = redis, 0
                local redis = {
                  call = function(name, ...)
                    calls = calls + 1
                    if fails(calls, name) then error('ERR refused ' .. name) end
                    return server.call(name, ...)
                  end,
                  pcall = function(name, ...)
                    calls = calls + 1
                    if fails(calls, name) then return {err = 'ERR refused ' .. name} end
                    return server.pcall(name, ...)
                  end
                }
                """
                + script.lua().text();
    }

    private static Stream<String> commandsOf(CacheScript script) {
        return CALL.matcher(script.lua().text())
                .results()
                .map((MatchResult call) -> call.group(1))
                .distinct();
    }

    private void plant(Seed seed) {
        planted.clear();
        planted.add(encoded(List.of("DEL", KEY)));
        Map<String, String> fields = new LinkedHashMap<>();
        // Shorter than a new lease by more than the time until the script runs: so it always prolongs the key.
        long life = 120;
        if (seed.has("VALUE")) {
            life = seed.has("LATE") ? 100 : 300;
            fields.put("v", sixBytes(seed.has("LATE") ? -10 : 300) + "\0\0\0\0" + "old!");
        }
        if (seed.has("KEPT")) {
            fields.put("x", at(90));
        }
        if (seed.has("STALE")) {
            fields.put("s", at(20));
        }
        if (seed.has("LOAD_LEASE")) {
            fields.put("f", seed.has("RELEASED") ? TOKEN + "\0\0\0\0\0\0" : loadLease(10));
        }
        if (seed.has("OWN_INTENT") || seed.has("BOTH_INTENTS")) {
            fields.putAll(Map.of("i", at(30), "i:own", at(30)));
        }
        if (seed.has("OTHER_INTENT") || seed.has("BOTH_INTENTS")) {
            fields.putAll(Map.of("i", at(40), "i:other", at(40)));
        }
        if (seed.has("CRASHED_INTENT")) {
            fields.putAll(Map.of("i", at(-20), "i:crashed", at(-20)));
        }
        if (!fields.isEmpty()) {
            List<String> command = new ArrayList<>(List.of("HSET", KEY));
            fields.forEach((name, value) -> command.addAll(List.of(name, value)));
            planted.add(encoded(command));
            planted.add(encoded(List.of("PEXPIRE", KEY, Long.toString(life * 1000))));
        }
    }

    private Map<String, String> fields() {
        List<?> flat = (List<?>) redis.command("HGETALL", KEY);
        Map<String, String> fields = new TreeMap<>();
        for (int i = 0; i < flat.size(); i += 2) {
            fields.put(text(flat.get(i)), text(flat.get(i + 1)));
        }
        return fields;
    }

    private long life() {
        return (Long) redis.command("PTTL", KEY);
    }

    private static long endOf(Map<String, String> fields) {
        String value = fields.get("v");
        return ByteBuffer.wrap(("\0\0" + value.substring(0, 6)).getBytes(ISO_8859_1))
                .getLong();
    }

    private String at(int seconds) {
        return Long.toString(now + seconds * 1000L);
    }

    private String loadLease(int ends) {
        return TOKEN + sixBytes(ends);
    }

    private String sixBytes(int seconds) {
        byte[] bytes = ByteBuffer.allocate(8).putLong(now + seconds * 1000L).array();
        return new String(bytes, 2, 6, ISO_8859_1);
    }

    /** The reply, or the exception for an error reply. */
    private Object eval(String script, String... arguments) {
        String sha = shas.computeIfAbsent(script, text -> text(redis.command("SCRIPT", "LOAD", text)));
        List<String> command = new ArrayList<>(List.of("EVALSHA", sha, "1", KEY));
        command.addAll(Arrays.asList(arguments));
        planted.add(encoded(command));
        List<Object> replies = redis.pipeline(planted);
        planted.clear();
        return replies.get(replies.size() - 1);
    }

    private static byte[][] encoded(List<String> command) {
        return command.stream().map(part -> part.getBytes(ISO_8859_1)).toArray(byte[][]::new);
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, ISO_8859_1);
    }
}
