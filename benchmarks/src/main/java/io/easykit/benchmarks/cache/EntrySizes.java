package io.easykit.benchmarks.cache;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.easykit.benchmarks.cache.contender.Contender;
import io.easykit.benchmarks.cache.contender.Database;
import io.easykit.benchmarks.cache.contender.RedisContender;
import io.easykit.benchmarks.cache.contender.Setup;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.Table;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** C7: the bytes of an entry compared with a plain string of the same payload. Counts, not times. */
public final class EntrySizes {

    private static final List<Integer> PAYLOADS = List.of(100, 200, 1_000);

    /** Redis's default, and a value that stores every entry here in the compact form. */
    private static final List<String> LISTPACK_LIMITS = List.of("64", "4096");

    private static final String PLAIN_KEY = "st:payload::1";

    private static final List<RedisContender> CONTENDERS = List.of(
            RedisContender.RAW_GET,
            RedisContender.EASY_CACHE,
            RedisContender.SPRING,
            RedisContender.SPRING_TUNED,
            RedisContender.JET_CACHE,
            RedisContender.JET_CACHE_TUNED);

    private EntrySizes() {}

    public static void run() {
        try (RedisServer redis = RedisServer.start();
                RawRedis raw = redis.connect()) {
            System.out.println("C7, " + Machine.describe(redis));
            for (String limit : LISTPACK_LIMITS) {
                raw.command("CONFIG", "SET", "hash-max-ziplist-value", limit);
                System.out.println("\nhash-max-listpack-value " + limit + ", a text\n");
                payloads(redis, raw);
                System.out.println("\nhash-max-listpack-value " + limit + ", the same product\n");
                products(redis, raw);
            }
        }
        System.exit(0);
    }

    private static void payloads(RedisServer redis, RawRedis raw) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(redis.host(), redis.port());
        factory.afterPropertiesSet();
        factory.start();
        try {
            RedisEntryStore store = new RedisEntryStore(factory, Duration.ofMinutes(1));
            Table.header("payload", "plain string", "at rest", "more", "held lock adds", "an AP intent adds");
            for (int payload : PAYLOADS) {
                redis.flush();
                payload(store, raw, payload);
            }
        } finally {
            factory.destroy();
        }
    }

    private static void payload(RedisEntryStore store, RawRedis raw, int payload) {
        EasyCache cache = EasyCacheEngine.builder(new Texts())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .build();
        CacheKey<String> key = CacheSpec.of("payload", String.class).key(1);
        String value = "x".repeat(payload);
        raw.command("SET", PLAIN_KEY, value, "PX", "600000");
        cache.fetch(key, () -> value);

        long plain = bytes(raw, PLAIN_KEY);
        long atRest = bytes(raw, store.redisKey(key));
        store.fetch(alwaysDue(), 0);
        long locked = bytes(raw, store.redisKey(key));
        cache.invalidate(key);
        raw.command("DEL", store.redisKey(key));
        cache.fetch(key, () -> value);
        long[] updating = new long[1];
        cache.update(List.of(key), () -> {
            updating[0] = bytes(raw, store.redisKey(key));
            return null;
        });
        Table.row(payload, plain, atRest, atRest - plain, locked - atRest, updating[0] - atRest);
    }

    /**
     * Returns the same key for a reader to which every value is near its expiry, so that its fetch gets the load lease.
     */
    private static CacheKey<String> alwaysDue() {
        Duration long_ = Duration.ofDays(1);
        CacheOptions options = CacheOptions.builder()
                .ttl(long_.multipliedBy(10))
                .refreshAhead(long_)
                .build();
        return CacheSpec.of("payload", String.class).withOptions(options).key(1);
    }

    private static void products(RedisServer redis, RawRedis raw) {
        Table.header("contender", "settings", "bytes");
        for (RedisContender which : CONTENDERS) {
            redis.flush();
            Setup setup = new Setup(redis.host(), redis.port(), new Database(Duration.ZERO), Duration.ofSeconds(1));
            try (Contender contender = which.open(setup)) {
                Table.row(which.title(), which.settings(), bytes(raw, onlyKey(raw, contender)));
            }
        }
    }

    /** Waits for the key: some contenders store asynchronously, or give up while they are connecting. */
    private static String onlyKey(RawRedis raw, Contender contender) {
        while (!Long.valueOf(1).equals(raw.command("DBSIZE"))) {
            contender.product(1);
        }
        return raw.snapshot().firstKey();
    }

    private static long bytes(RawRedis raw, String key) {
        if (raw.command("MEMORY", "USAGE", key) instanceof Long bytes) {
            return bytes;
        }
        throw new IllegalStateException("There is no key " + key);
    }

    /** Writes text without quotes, so that the payload has exactly the given length. */
    private static final class Texts implements ValueCodec {

        @Override
        public byte[] encode(Object value, Type type) {
            return value.toString().getBytes(UTF_8);
        }

        @Override
        public Object decode(byte[] bytes, Type type) {
            return new String(bytes, UTF_8);
        }
    }
}
