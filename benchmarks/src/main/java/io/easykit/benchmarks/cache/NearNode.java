package io.easykit.benchmarks.cache;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.NearHintSubscription;
import io.easykit.cache.redis.RedisEntryStore;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One of the JVMs of {@link NearAges}. The database is a second Redis with a number for each key, which each update counts up. Readers
 * note which number they got, and when they came; updates note which number they made, and when the update had returned. Times
 * are those of the machine's monotonic clock, which all processes share.
 */
final class NearNode {

    static final String READY = "ready";

    static final int KEYS = 10;

    private static final int READERS = 4;
    private static final long UPDATE_EACH_NANOS = 40_000_000;

    private final EasyCache cache;
    private final RedisCommands<String, String> database;
    private final CacheSpec<Long> counters;

    private NearNode(EasyCache cache, RedisCommands<String, String> database, CacheSpec<Long> counters) {
        this.cache = cache;
        this.database = database;
        this.counters = counters;
    }

    /** Takes the ports of the cache and of the database, and the milliseconds of near TTL and stale window, and whether it sends hints. */
    public static void main(String[] arguments) throws Exception {
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory("127.0.0.1", Integer.parseInt(arguments[0]));
        connections.afterPropertiesSet();
        connections.start();
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", Integer.parseInt(arguments[1])));
        Duration timeout = Duration.ofSeconds(5);
        RedisEntryStore store = Boolean.parseBoolean(arguments[4])
                ? RedisEntryStore.withHints(connections, RedisEntryStore.DEFAULT_KEY_PREFIX, timeout)
                : new RedisEntryStore(connections, timeout);
        new NearHintSubscription(connections, store).start();
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .nearLevels(() -> CaffeineLocalLevel.near(1_000, System::nanoTime))
                .build();
        NearNode node = new NearNode(
                cache,
                client.connect().sync(),
                CacheSpec.<Long>of("counter", Long.class)
                        .withOptions(options(Long.parseLong(arguments[2]), Long.parseLong(arguments[3]))));
        System.out.println(READY);
        node.serve();
        System.exit(0);
    }

    static CacheOptions options(long nearMillis, long windowMillis) {
        return CacheOptions.builder()
                .nearTtl(Duration.ofMillis(nearMillis))
                .staleWindow(Duration.ofMillis(windowMillis))
                .build();
    }

    /** Orders are a number of reads, the nanoseconds between two reads of a thread, and a file for the notes. */
    private void serve() throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] words = order.split(" ", 3);
            System.out.println(run(Integer.parseInt(words[0]), Long.parseLong(words[1]), Path.of(words[2])));
        }
    }

    private int run(int reads, long pause, Path file) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(READERS + 1);
        try {
            List<Future<List<Note>>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                readers.add(pool.submit((Callable<List<Note>>) () -> read(reads / READERS, pause)));
            }
            Future<List<Note>> updates = pool.submit(() -> update(readers));
            List<Note> read = new ArrayList<>();
            for (Future<List<Note>> reader : readers) {
                read.addAll(reader.get());
            }
            write(file, read, updates.get());
            return read.size();
        } finally {
            pool.shutdownNow();
        }
    }

    /** @param at when the read began, or when the update had returned */
    record Note(int key, long number, long at) {}

    private List<Note> read(int count, long pause) {
        List<Note> notes = new ArrayList<>(count);
        long due = System.nanoTime();
        while (notes.size() < count) {
            long now = System.nanoTime();
            if (now - due < 0) {
                LockSupport.parkNanos(due - now);
                continue;
            }
            due += pause;
            int key = ThreadLocalRandom.current().nextInt(KEYS);
            long at = System.nanoTime();
            Long number = cache.fetch(key(key), () -> number(key));
            notes.add(new Note(key, Objects.requireNonNull(number), at));
        }
        return notes;
    }

    private CacheKey<Long> key(int key) {
        return counters.key(key);
    }

    private long number(int key) {
        String text = database.get("counter" + key);
        return text == null ? 0 : Long.parseLong(text);
    }

    /** At random times, until all readers are done. */
    private List<Note> update(List<? extends Future<?>> readers) {
        List<Note> notes = new ArrayList<>();
        while (!readers.stream().allMatch(Future::isDone)) {
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(2 * UPDATE_EACH_NANOS));
            int key = ThreadLocalRandom.current().nextInt(KEYS);
            Long number = cache.update(List.of(key(key)), () -> database.incr("counter" + key));
            notes.add(new Note(key, Objects.requireNonNull(number), System.nanoTime()));
        }
        return notes;
    }

    private static void write(Path file, List<Note> reads, List<Note> updates) throws IOException {
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            for (List<Note> notes : List.of(reads, updates)) {
                out.writeInt(notes.size());
                for (Note note : notes) {
                    out.writeInt(note.key);
                    out.writeLong(note.number);
                    out.writeLong(note.at);
                }
            }
        }
    }
}
