package io.easykit.benchmarks.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The lower bound: a command of Lettuce with the decoding of easy-cache, and nothing else. */
final class LettuceContender {

    private static final byte[] FIELD = {'v'};
    private static final int VALUE_HEADER = 12;

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

    /** What a hit would cost if each one asked the script; the entry is as easy-cache's own. */
    static Contender fetchScript(Setup setup) {
        return open(setup, redis -> {
            String sha = redis.scriptLoad(script());
            return new Raw("raw:prodscri::", setup.database()) {
                @Override
                byte @Nullable [] read(byte[] key) {
                    List<?> reply = redis.evalsha(sha, ScriptOutputType.MULTI, new byte[][] {key}, arguments());
                    byte[] value = reply.size() > 2 ? (byte[]) reply.get(2) : null;
                    return value == null ? null : java.util.Arrays.copyOfRange(value, VALUE_HEADER, value.length);
                }

                @Override
                void write(byte[] key, byte[] json) {
                    long end = System.currentTimeMillis() + Setup.TTL.toMillis();
                    ByteBuffer value = ByteBuffer.allocate(VALUE_HEADER + json.length);
                    value.putShort((short) (end >>> 32)).putInt((int) end).position(VALUE_HEADER);
                    redis.del(key);
                    redis.hset(key, FIELD, value.put(json).array());
                    redis.pexpire(key, Setup.TTL.toMillis());
                }
            };
        });
    }

    private static byte[][] arguments() {
        byte[] caller = ByteBuffer.allocate(4)
                .putInt(ThreadLocalRandom.current().nextInt())
                .array();
        return new byte[][] {caller, bytes("1000"), bytes("120000"), bytes("1"), bytes("2000"), bytes("0")};
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static String script() {
        try (InputStream in = LettuceContender.class.getResourceAsStream("/io/easykit/cache/redis/fetch.lua")) {
            if (in == null) {
                throw new IllegalStateException("easy-cache-core has no fetch.lua; has the script been renamed?");
            }
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Contender open(Setup setup, java.util.function.Function<RedisCommands<byte[], byte[]>, Raw> reader) {
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
