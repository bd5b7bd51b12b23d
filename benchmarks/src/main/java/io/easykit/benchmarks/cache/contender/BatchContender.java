package io.easykit.benchmarks.cache.contender;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Reads several ids through a cache in front of a source that counts its calls. */
public final class BatchContender implements AutoCloseable {

    private final Reader reader;
    private final Runnable close;
    private final AtomicLong loads;

    private BatchContender(Reader reader, AtomicLong loads, Runnable close) {
        this.reader = reader;
        this.loads = loads;
        this.close = close;
    }

    private interface Reader {

        void read(List<Long> ids);
    }

    /** What is compared. */
    public enum Kind {
        EASY_CACHE_BATCH("easy-cache, one batch", "fetchAll"),
        EASY_CACHE_SINGLE("easy-cache, one by one", "fetch"),
        MGET("raw Lettuce, one batch", "MGET, and MSET of what is missing"),
        GET("raw Lettuce, one by one", "GET, and SET of what is missing");

        private final String title;
        private final String settings;

        Kind(String title, String settings) {
            this.title = title;
            this.settings = settings;
        }

        public String title() {
            return title;
        }

        public String settings() {
            return settings;
        }

        public BatchContender open(String host, int port) {
            return switch (this) {
                case EASY_CACHE_BATCH -> easyCache(host, port, true);
                case EASY_CACHE_SINGLE -> easyCache(host, port, false);
                case MGET -> lettuce(host, port, true);
                case GET -> lettuce(host, port, false);
            };
        }
    }

    public void read(List<Long> ids) {
        reader.read(ids);
    }

    /** Calls of the source so far. */
    public long loads() {
        return loads.get();
    }

    @Override
    public void close() {
        close.run();
    }

    private static BatchContender easyCache(String host, int port, boolean batch) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(host, port);
        connections.afterPropertiesSet();
        connections.start();
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(connections, Duration.ofSeconds(5)))
                .build();
        CacheSpec<Product> products = CacheSpec.of("product", Product.class);
        AtomicLong loads = new AtomicLong();
        Reader reader = batch
                ? ids -> cache.fetchAll(products, ids, missing -> {
                    loads.incrementAndGet();
                    return load(missing);
                })
                : ids -> ids.forEach(id -> cache.fetch(products.key(id), () -> {
                    loads.incrementAndGet();
                    return Product.of(id);
                }));
        return new BatchContender(reader, loads, () -> {
            cache.close();
            connections.destroy();
        });
    }

    private static Map<Long, Product> load(Collection<Long> ids) {
        Map<Long, Product> found = new HashMap<>();
        ids.forEach(id -> found.put(id, Product.of(id)));
        return found;
    }

    private static BatchContender lettuce(String host, int port, boolean batch) {
        RedisClient client = RedisClient.create(RedisURI.create(host, port));
        StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
        AtomicLong loads = new AtomicLong();
        Reader reader =
                batch ? ids -> mget(connection, ids, loads) : ids -> ids.forEach(id -> get(connection, id, loads));
        return new BatchContender(reader, loads, client::shutdown);
    }

    private static void mget(StatefulRedisConnection<byte[], byte[]> connection, List<Long> ids, AtomicLong loads) {
        byte[][] keys = ids.stream().map(BatchContender::key).toArray(byte[][]::new);
        IdentityHashMap<byte[], byte[]> missing = new IdentityHashMap<>();
        List<KeyValue<byte[], byte[]>> found = connection.sync().mget(keys);
        for (int i = 0; i < keys.length; i++) {
            if (found.get(i).hasValue()) {
                Json.read(found.get(i).getValue());
            } else {
                missing.put(keys[i], Json.write(Product.of(ids.get(i))));
            }
        }
        if (!missing.isEmpty()) {
            loads.incrementAndGet();
            connection.sync().mset(missing);
        }
    }

    private static void get(StatefulRedisConnection<byte[], byte[]> connection, long id, AtomicLong loads) {
        byte[] found = connection.sync().get(key(id));
        if (found != null) {
            Json.read(found);
        } else {
            loads.incrementAndGet();
            connection.sync().set(key(id), Json.write(Product.of(id)));
        }
    }

    private static byte[] key(long id) {
        return ("product:" + id).getBytes(StandardCharsets.UTF_8);
    }
}
