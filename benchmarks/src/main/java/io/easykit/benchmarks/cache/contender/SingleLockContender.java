package io.easykit.benchmarks.cache.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The algorithm of RocksCache and its descendants, reduced to its strong fetch. One lock field determines which caller
 * may load, which may store and, by its end, how long others wait. An expired lock goes to the next reader, together
 * with the right to store.
 */
final class SingleLockContender implements Products {

    private static final String FETCH =
            """
            local entry = redis.call('HMGET', KEYS[1], 'value', 'until')
            local locked = tonumber(entry[2])
            if (locked and locked < tonumber(ARGV[1])) or (not locked and not entry[1]) then
              redis.call('HSET', KEYS[1], 'until', ARGV[2], 'owner', ARGV[3])
              return {entry[1], 1}
            end
            return {entry[1], 0}
            """;

    private static final String STORE =
            """
            if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then return 0 end
            redis.call('HSET', KEYS[1], 'value', ARGV[1])
            redis.call('HDEL', KEYS[1], 'until', 'owner')
            redis.call('PEXPIRE', KEYS[1], ARGV[3])
            return 1
            """;

    private static final long LOOK_MILLIS = 100;

    private final RedisCommands<byte[], byte[]> redis;
    private final Setup setup;
    private final Map<Long, CompletableFuture<Product>> flights = new ConcurrentHashMap<>();

    private SingleLockContender(RedisCommands<byte[], byte[]> redis, Setup setup) {
        this.redis = redis;
        this.setup = setup;
    }

    static Contender open(Setup setup) {
        RedisClient client = RedisClient.create(RedisURI.create(setup.host(), setup.port()));
        StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
        return Contender.of(new SingleLockContender(connection.sync(), setup), client::shutdown);
    }

    /** One fetch at a time for each key in this node. */
    @Override
    public Product product(long id) {
        CompletableFuture<Product> mine = new CompletableFuture<>();
        CompletableFuture<Product> running = flights.putIfAbsent(id, mine);
        if (running != null) {
            return running.join();
        }
        try {
            mine.complete(fetch(id));
        } catch (RuntimeException failure) {
            mine.completeExceptionally(failure);
        } finally {
            flights.remove(id);
        }
        return mine.join();
    }

    private Product fetch(long id) {
        byte[] key = bytes("lock:product::" + id);
        String owner = UUID.randomUUID().toString();
        for (; ; ) {
            long now = System.currentTimeMillis();
            List<@Nullable Object> reply = redis.eval(
                    FETCH,
                    ScriptOutputType.MULTI,
                    new byte[][] {key},
                    bytes(now),
                    bytes(now + setup.loadLease().toMillis()),
                    bytes(owner));
            if (Long.valueOf(1).equals(reply.get(1))) {
                return loadAndStore(id, key, owner);
            }
            if (reply.get(0) instanceof byte[] json) {
                return Json.read(json);
            }
            pause();
        }
    }

    private Product loadAndStore(long id, byte[] key, String owner) {
        Product product = setup.database().product(id);
        redis.eval(
                STORE,
                ScriptOutputType.INTEGER,
                new byte[][] {key},
                Json.write(product),
                bytes(owner),
                bytes(Setup.TTL.toMillis()));
        return product;
    }

    private static void pause() {
        try {
            Thread.sleep(LOOK_MILLIS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stop);
        }
    }

    private static byte[] bytes(Object text) {
        return text.toString().getBytes(UTF_8);
    }
}
