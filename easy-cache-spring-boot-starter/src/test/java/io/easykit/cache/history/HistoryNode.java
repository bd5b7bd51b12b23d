package io.easykit.cache.history;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.jdbc.JdbcOutbox;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.redis.DedicatedConnections;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** One process of a run: the cache as the starter builds it, and clients that read and update at random. */
final class HistoryNode implements AutoCloseable {

    /** A file of this name in the directory of the run ends the updates. */
    static final String CALM = "calm";

    /** Start of the line that a process prints when its clients run. Its clock follows. */
    static final String STARTED = "started at ";

    /** The line that a process prints when, after the end of the updates, it has read the values of the database. */
    static final String EQUAL = "all values are those of the database";

    private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(250);

    private final Recorder recorder;
    private final Table table;
    private final LettuceConnectionFactory connections;
    private final EasyCacheEngine cache;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    /**
     * @param name different from all others of the run, those that have died included
     * @param directory of the run
     * @param redis {@code host:port}, or {@code master@host:port,…} of sentinels
     */
    record Settings(
            String name, Path directory, String database, String redis, int threads, long seed, Weakening weakening) {

        String[] asArguments() {
            return new String[] {
                name,
                directory.toString(),
                database,
                redis,
                String.valueOf(threads),
                String.valueOf(seed),
                weakening.name()
            };
        }

        static Settings of(String... arguments) {
            return new Settings(
                    arguments[0],
                    Path.of(arguments[1]),
                    arguments[2],
                    arguments[3],
                    Integer.parseInt(arguments[4]),
                    Long.parseLong(arguments[5]),
                    Weakening.valueOf(arguments[6]));
        }
    }

    HistoryNode(Settings settings) {
        recorder = new Recorder(settings.directory(), settings.name());
        table = new Table(settings.database());
        connections = DedicatedConnections.copyOf(
                new LettuceConnectionFactory(configuration(settings.redis())), COMMAND_TIMEOUT);
        connections.start();
        cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(
                        CacheSpec.DEFAULT_CLUSTER,
                        settings.weakening()
                                .of(new RedisEntryStore(connections, COMMAND_TIMEOUT), connections, recorder))
                .localLevels(() -> new CaffeineLocalLevel(1_000))
                .nearLevels(() -> CaffeineLocalLevel.near(1_000, System::nanoTime))
                .degraded(DegradedOptions.defaults().withLocalTtl(Caches.LOCAL_TTL))
                .outbox(new JdbcOutbox(table.dataSource(), RedisEntryStore.DEFAULT_KEY_PREFIX, () -> null))
                .build();
        for (int i = 0; i < settings.threads(); i++) {
            Client client =
                    new Client(cache, table, recorder, settings, new SplittableRandom(settings.seed() * 1_000 + i));
            Thread thread = new Thread(() -> run(client, settings.directory()), settings.name() + "-client-" + i);
            thread.setDaemon(true);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    private static RedisConfiguration configuration(String redis) {
        int at = redis.indexOf('@');
        if (at > 0) {
            return new RedisSentinelConfiguration(
                    redis.substring(0, at), Set.of(redis.substring(at + 1).split(",", -1)));
        }
        int colon = redis.lastIndexOf(':');
        return new RedisStandaloneConfiguration(
                redis.substring(0, colon), Integer.parseInt(redis.substring(colon + 1)));
    }

    private void run(Client client, Path directory) {
        while (!stopped && !Files.exists(directory.resolve(CALM))) {
            client.call();
        }
    }

    /** Reads each key until its value is that of the database. CP values have to be so at once, which the history shows. */
    private void readUntilEqual(Settings settings) {
        Client client = new Client(cache, table, recorder, settings, new SplittableRandom(settings.seed()));
        List<CacheKey<Integer>> different = Caches.keys();
        while (!different.isEmpty()) {
            different = different.stream().filter(key -> !client.isEqual(key)).toList();
        }
    }

    @Override
    public void close() {
        stopped = true;
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        cache.stop();
        connections.destroy();
        table.close();
        recorder.close();
    }

    /** Runs a node; the arguments are those of {@link Settings#asArguments}. */
    public static void main(String[] arguments) throws InterruptedException {
        Settings settings = Settings.of(arguments);
        HistoryNode node = new HistoryNode(settings);
        System.out.println(STARTED + System.nanoTime());
        for (Thread thread : node.threads) {
            thread.join();
        }
        node.readUntilEqual(settings);
        System.out.println(EQUAL);
        Thread.currentThread().join();
    }
}
