package io.easykit.cache.redis;

import io.easykit.redis.LuaScript;
import io.easykit.redis.ScriptExecutor;
import io.easykit.redis.ScriptReply;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A real Redis with the scripts as shipped, in a time that a test moves. The commands that read the time or the life of a key
 * are answered by the test's clock: keys end when that passes.
 */
final class VirtualRedis implements RedisCommands, AutoCloseable {

    private static final Duration PATIENT = Duration.ofSeconds(20);

    /** In front of each script. Keys of the test begin with {@code test:}. */
    private static final String SHIM =
            """
            local real, redis = redis, {}
            local function clock() return tonumber(real.call('GET', 'test:clock')) end
            local function shim(call, command, key, ...)
              if command == 'TIME' then
                local ms = clock()
                return {string.format('%.0f', math.floor(ms / 1000)), string.format('%.0f', ms % 1000 * 1000)}
              elseif command == 'PTTL' then
                if real.call('EXISTS', key) == 0 then return -2 end
                local ends = real.call('HGET', 'test:ends', key)
                return ends and tonumber(ends) - clock() or -1
              elseif command == 'PEXPIRE' then
                if real.call('EXISTS', key) == 0 then return 0 end
                real.call('HSET', 'test:ends', key, string.format('%.0f', clock() + tonumber((...))))
                return 1
              end
              local reply = call(command, key, ...)
              if real.call('EXISTS', key) == 0 then real.call('HDEL', 'test:ends', key) end
              return reply
            end
            redis.call = function(...) return shim(real.call, ...) end
            redis.pcall = function(...) return shim(real.pcall, ...) end
            """;

    private static final String TICK =
            """
            redis.call('SET', 'test:clock', ARGV[1])
            local ends = redis.call('HGETALL', 'test:ends')
            for i = 1, #ends, 2 do
              if tonumber(ends[i + 1]) <= tonumber(ARGV[1]) then
                redis.call('DEL', ends[i])
                redis.call('HDEL', 'test:ends', ends[i])
              end
            end
            return 1
            """;

    private final RawRedis raw = RedisServer.shared().connect();
    private final LettuceConnectionFactory connections;
    private final LettuceCommands commands;
    private final Map<LuaScript, LuaScript> edited = new ConcurrentHashMap<>();
    private long millis;

    /** @param edit weakens a script, or leaves it as it is */
    VirtualRedis(BiFunction<CacheScript, String, String> edit) {
        this.connections = new LettuceConnectionFactory(new RedisStandaloneConfiguration(
                RedisServer.shared().host(), RedisServer.shared().port()));
        connections.afterPropertiesSet();
        connections.start();
        this.commands = new LettuceCommands(connections, PATIENT);
        for (CacheScript script : CacheScript.values()) {
            edited.put(
                    script.lua(),
                    new LuaScript(SHIM + edit.apply(script, script.lua().text())));
        }
    }

    /** A store with nothing in it. */
    RedisEntryStore emptied(long now) {
        raw.command("FLUSHALL");
        setMillis(now);
        return new RedisEntryStore(this, PATIENT);
    }

    void setMillis(long now) {
        millis = now;
        raw.command("EVAL", TICK, "0", Long.toString(now));
    }

    /** How many keys hold entries, epochs or work leases without an end. */
    long keysWithoutEnd() {
        Object all = raw.command("DBSIZE");
        Object ends = raw.command("HLEN", "test:ends");
        long own = (Long) ends > 0 ? 2 : 1;
        return (Long) all - own - (Long) ends;
    }

    @Override
    public ScriptExecutor scripts() {
        ScriptExecutor real = commands.scripts();
        return new ScriptExecutor() {
            @Override
            public CompletionStage<@Nullable Object> run(
                    LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
                return real.run(edited.get(script), reply, keys, arguments);
            }

            @Override
            public @Nullable Object await(LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
                return real.await(edited.get(script), reply, keys, arguments);
            }

            @Override
            public void load(LuaScript script) {
                real.load(edited.get(script));
            }

            @Override
            public boolean isBlocking() {
                return real.isBlocking();
            }
        };
    }

    @Override
    public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
        return commands.readAll(key);
    }

    @Override
    public CompletionStage<Long> time() {
        return CompletableFuture.completedStage(millis);
    }

    @Override
    public void close() {
        connections.destroy();
        raw.close();
    }
}
