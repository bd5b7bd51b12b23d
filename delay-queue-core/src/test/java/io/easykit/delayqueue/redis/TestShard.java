package io.easykit.delayqueue.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One shard on an emptied Redis, with a clock that the test sets: to seed, to call, and to compare as a whole. The scripts
 * run as they ship but for the one place that reads the time.
 */
final class TestShard implements AutoCloseable {

    static final ShardKey KEY = new ShardKey("t", 0);

    private static final String PREFIX = "dq:{t:0}:";
    private static final String CLOCK = "test:clock";

    /** One for all tests of the shared server: opening one costs more than a test. */
    static final LettuceConnectionFactory SHARED = connections(RedisServer.shared());

    private final RawRedis redis;
    final RedisQueueStore store;

    TestShard() {
        this(TestShard::withTestClock);
    }

    /** @param edit changes the scripts before they are used */
    TestShard(UnaryOperator<String> edit) {
        store = new RedisQueueStore(SHARED, "dq:", edit);
        redis = RedisServer.shared().connect();
        empty();
        connect(store);
    }

    /** Waits for the connection: on a busy machine it takes longer than a call waits for it. */
    static void connect(RedisQueueStore store) {
        await().atMost(Duration.ofMinutes(1)).until(() -> isConnected(store));
    }

    private static boolean isConnected(RedisQueueStore store) {
        try {
            store.stats(KEY);
            return true;
        } catch (StoreRefusedException refused) {
            return true; // Redis has answered: it has no test clock yet.
        } catch (StoreUnavailableException tooEarly) {
            return false;
        }
    }

    /** Removes all keys and sets the clock back. */
    void empty() {
        redis.command("FLUSHALL");
        clock(1000);
    }

    static LettuceConnectionFactory connections(RedisServer server) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(server.host(), server.port());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    static String withTestClock(String script) {
        String clocked = script.replace("redis.call('TIME')", "redis.call('LRANGE', '" + CLOCK + "', 0, 1)");
        if (clocked.contains("'TIME'")) {
            throw new IllegalArgumentException("Reads the time in another way");
        }
        return clocked;
    }

    /** Replaces a text that stands there exactly once, so that no replacement misses unnoticed. */
    static String replaceOnce(String script, String old, String replacement) {
        int at = script.indexOf(old);
        if (at < 0 || script.indexOf(old, at + 1) >= 0) {
            throw new IllegalArgumentException("Not exactly once in the script: " + old);
        }
        return script.replace(old, replacement);
    }

    void clock(long millis) {
        clockMicros(millis * 1000);
    }

    void clockMicros(long micros) {
        redis.pipeline(List.of(
                command("DEL", CLOCK),
                command("RPUSH", CLOCK, String.valueOf(micros / 1_000_000), String.valueOf(micros % 1_000_000))));
    }

    private static byte[][] command(String... words) {
        return Stream.of(words).map(word -> word.getBytes(UTF_8)).toArray(byte[][]::new);
    }

    /** Commands in which the key is named without the shard's prefix, one a line, words separated by blanks. */
    TestShard seed(String commands) {
        commands.lines().map(line -> line.trim().split(" +")).forEach(words -> {
            words[1] = PREFIX + words[1];
            redis.command(words);
        });
        return this;
    }

    RawRedis redis() {
        return redis;
    }

    /** The whole keyspace but the clock, a key a line, names without the prefix. A remembered claim shows as such. */
    String state() {
        return redis.snapshot().entrySet().stream()
                .filter(entry -> !entry.getKey().equals(CLOCK))
                .map(entry -> line(entry.getKey(), entry.getValue()))
                .collect(Collectors.joining("\n"));
    }

    private static String line(String key, RawRedis.Stored stored) {
        if (!key.startsWith(PREFIX)) {
            return "NOT OF THIS SHARD " + key;
        }
        String name = key.substring(PREFIX.length());
        if (name.startsWith("claim:")) {
            return name + (stored.pttl() > 0 ? " expires" : " STAYS");
        }
        String content = stored.content() instanceof Map<?, ?> map
                ? map.entrySet().stream()
                        .map(e -> e.getKey() + "=" + e.getValue())
                        .collect(Collectors.joining(", "))
                : stored.content().toString();
        return (name + " " + content).stripTrailing() + (stored.pttl() < 0 ? "" : " EXPIRES");
    }

    static Bytes frame(String text) {
        return Bytes.of(text.getBytes(UTF_8));
    }

    static NewMessage in(String id, long delay, String frame) {
        return new NewMessage(id, DueTime.after(Duration.ofMillis(delay)), frame(frame));
    }

    static NewMessage at(String id, long millis, String frame) {
        return new NewMessage(id, DueTime.at(Instant.ofEpochMilli(millis)), frame(frame));
    }

    static Claim claim(String owner, long request, int count, long lease, Lease... acknowledged) {
        return new Claim(owner, request, count, count, Duration.ofMillis(lease), List.of(acknowledged));
    }

    static List<Lease> leases(Object... idsAndNumbers) {
        return Stream.iterate(0, i -> i < idsAndNumbers.length, i -> i + 2)
                .map(i -> new Lease((String) idsAndNumbers[i], ((Number) idsAndNumbers[i + 1]).longValue()))
                .toList();
    }

    static Instant ms(long millis) {
        return Instant.ofEpochMilli(millis);
    }

    @Override
    public void close() {
        store.close();
        redis.close();
    }
}
