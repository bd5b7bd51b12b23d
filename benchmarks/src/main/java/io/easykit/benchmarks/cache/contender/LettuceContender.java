package io.easykit.benchmarks.cache.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The lower bound: a Lettuce command with the decoding of easy-cache, and nothing else. */
final class LettuceContender {

    private static final byte[] FIELD = {'v'};

    private LettuceContender() {}

    static Contender get(Setup setup) {
        return open(setup, redis -> new Raw("raw:product::", setup.database()) {
            @Override
            byte @Nullable [] read(byte[] key) {
                return redis.get(key);
            }

            @Override
            void write(byte[] key, byte[] json) {
                redis.psetex(key, Setup.TTL.toMillis(), json);
            }
        });
    }

    static Contender hgetall(Setup setup) {
        return open(setup, redis -> new Raw("raw:prodhash::", setup.database()) {
            @Override
            byte @Nullable [] read(byte[] key) {
                for (byte[] only : redis.hgetall(key).values()) {
                    return only;
                }
                return null;
            }

            @Override
            void write(byte[] key, byte[] json) {
                redis.hset(key, FIELD, json);
                redis.pexpire(key, Setup.TTL.toMillis());
            }
        });
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static Contender open(Setup setup, Function<RedisCommands<byte[], byte[]>, Raw> reader) {
        RedisClient client = RedisClient.create(RedisURI.create(setup.host(), setup.port()));
        StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
        return Contender.of(reader.apply(connection.sync()), client::shutdown);
    }

    /** Reads, or loads and writes. */
    private abstract static class Raw implements Products {

        private final String prefix;
        private final Products database;

        Raw(String prefix, Products database) {
            this.prefix = prefix;
            this.database = database;
        }

        abstract byte @Nullable [] read(byte[] key);

        abstract void write(byte[] key, byte[] json);

        @Override
        public Product product(long id) {
            byte[] key = bytes(prefix + id);
            byte[] json = read(key);
            if (json != null) {
                return Json.read(json);
            }
            Product product = database.product(id);
            write(key, Json.write(product));
            return product;
        }
    }
}
