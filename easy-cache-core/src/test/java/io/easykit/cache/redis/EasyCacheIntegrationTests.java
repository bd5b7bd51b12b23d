package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes on one Redis. */
class EasyCacheIntegrationTests {

    record User(long id, String name) {}

    private static final User STALE = new User(1, "Ada");
    private static final User NEW = new User(1, "Ada Lovelace");

    private final Node a =
            Node.on(RedisServer.shared().host(), RedisServer.shared().port());
    private final Node b =
            Node.on(RedisServer.shared().host(), RedisServer.shared().port());
    private final RawRedis redis = RedisServer.shared().connect();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CacheSpec<User> users = CacheSpec.of("user", User.class);
    private final AtomicReference<User> database = new AtomicReference<>(STALE);

    @BeforeEach
    void empty() {
        RedisServer.shared().flush();
    }

    @AfterEach
    void leaveNoKeyWithoutAnEnd() {
        threads.shutdownNow();
        a.close();
        b.close();
        assertEveryKeyHasAnEnd();
        redis.close();
    }

    private void assertEveryKeyHasAnEnd() {
        for (Object key : (List<?>) redis.command("KEYS", "*")) {
            assertThat(redis.command("PTTL", RawRedis.text((byte[]) key)))
                    .as(RawRedis.text((byte[]) key))
                    .isNotEqualTo(-1L);
        }
    }

    private CacheKey<User> key(Consistency consistency, Object part) {
        return users.withOptions(CacheOptions.builder().consistency(consistency).build())
                .key(part);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void loadsAColdKeyOnceForAHundredReadersOnBothNodes(Consistency consistency) throws Exception {
        CacheKey<User> key = users.withOptions(CacheOptions.builder()
                        .consistency(consistency)
                        .loadLease(Duration.ofMinutes(1))
                        .loadWaitTimeout(Duration.ofMinutes(1))
                        .build())
                .key(1);
        AtomicInteger loads = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(100);
        List<Future<User>> results = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            EasyCacheEngine cache = i % 2 == 0 ? a.cache() : b.cache();
            results.add(threads.submit(() -> {
                all.countDown();
                return cache.fetch(key, () -> {
                    loads.incrementAndGet();
                    assertThat(all.await(10, TimeUnit.SECONDS)).isTrue();
                    return STALE;
                });
            }));
        }
        for (Future<User> result : results) {
            assertThat(result.get()).isEqualTo(STALE);
        }
        assertThat(loads).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void endsWithTheNewValueWhenAnUpdateOvertakesALoad(Consistency consistency) throws Exception {
        CacheKey<User> key = key(consistency, 1);
        CountDownLatch read = new CountDownLatch(1);
        CountDownLatch updated = new CountDownLatch(1);
        Future<User> reader = threads.submit(() -> a.cache().fetch(key, () -> {
            User seen = database.get();
            read.countDown();
            updated.await();
            return seen;
        }));
        read.await();
        b.cache().update(List.of(key), () -> {
            database.set(NEW);
            return null;
        });
        updated.countDown();
        assertThat(reader.get()).isEqualTo(consistency == Consistency.AP ? STALE : NEW);
        assertThat(b.cache().fetch(key, database::get)).isEqualTo(NEW);
        assertThat(a.cache().fetch(key, () -> STALE)).isEqualTo(NEW);
    }

    @Test
    void servesTheOldValueToWeakReadersOnly() {
        CacheOptions wide =
                CacheOptions.builder().staleWindow(Duration.ofMinutes(1)).build();
        CacheKey<User> weak = users.withOptions(wide).key("weak");
        CacheKey<User> strong = key(Consistency.CP, "strong");
        for (CacheKey<User> key : List.of(weak, strong)) {
            a.cache().fetch(key, () -> STALE);
        }
        a.cache().update(List.of(weak, strong), () -> null);
        assertThat(b.cache().fetch(weak, () -> NEW)).isEqualTo(STALE);
        assertThat(b.cache().fetch(strong, () -> NEW)).isEqualTo(NEW);
        await().until(() -> a.cache().fetch(weak, () -> STALE).equals(NEW));
        assertThat(redis.command("HLEN", "ec:" + weak.name())).isEqualTo(1L);
    }

    @Test
    void endsTheWindowThoughLoadsFailAndUpdatesGoOn() {
        CacheKey<User> key = users.withOptions(CacheOptions.builder()
                        .staleWindow(Duration.ofMillis(300))
                        .build())
                .key(1);
        a.cache().fetch(key, () -> STALE);
        a.cache().invalidate(key);
        AtomicReference<Object> read = new AtomicReference<>(STALE);
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> {
                    a.cache().invalidate(key);
                    try {
                        read.set(b.cache().fetch(key, () -> {
                            throw new IllegalStateException("no database");
                        }));
                        return false;
                    } catch (IllegalStateException noDatabase) {
                        return true;
                    }
                });
        assertThat(read).hasValue(STALE);
    }

    @Test
    void storesWhatALoaderSlowerThanItsElectionBrings() throws Exception {
        CacheKey<User> key = users.withOptions(CacheOptions.builder()
                        .consistency(Consistency.CP)
                        .loadLease(Duration.ofMillis(50))
                        .build())
                .key(1);
        CountDownLatch takenOver = new CountDownLatch(1);
        CountDownLatch stored = new CountDownLatch(1);
        Future<User> slow = threads.submit(() -> a.cache().fetch(key, () -> {
            takenOver.await();
            return STALE;
        }));
        await().until(() -> Long.valueOf(1).equals(redis.command("HEXISTS", "ec:" + key.name(), "f")));
        Future<User> successor = threads.submit(() -> b.cache().fetch(key, () -> {
            takenOver.countDown();
            stored.await();
            return NEW;
        }));
        assertThat(slow.get()).isEqualTo(STALE);
        stored.countDown();
        assertThat(successor.get()).isEqualTo(STALE);
        assertThat(b.cache().fetch(key, () -> NEW)).isEqualTo(STALE);
    }

    @Test
    void neverGoesBackForAStrongReaderWhileScriptsAreFlushed() throws Exception {
        CacheSpec<Integer> counters = CacheSpec.of("counter", Integer.class)
                .withOptions(CacheOptions.builder().consistency(Consistency.CP).build());
        CacheKey<Integer> key = counters.key(1);
        AtomicInteger row = new AtomicInteger();
        AtomicInteger acknowledged = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        List<Future<Integer>> readers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            EasyCacheEngine cache = i % 2 == 0 ? a.cache() : b.cache();
            readers.add(threads.submit(() -> {
                int reads = 0;
                while (!done.get()) {
                    int least = acknowledged.get();
                    assertThat(cache.fetch(key, row::get)).isGreaterThanOrEqualTo(least);
                    reads++;
                }
                return reads;
            }));
        }
        for (int update = 0; update < 150; update++) {
            (update % 2 == 0 ? a : b).cache().update(List.of(key), row::incrementAndGet);
            acknowledged.set(row.get());
            if (update % 5 == 0) {
                redis.command("SCRIPT", "FLUSH");
                assertEveryKeyHasAnEnd();
            }
        }
        done.set(true);
        for (Future<Integer> reader : readers) {
            assertThat(reader.get()).isPositive();
        }
        assertThat(b.cache().fetch(key, row::get)).isEqualTo(150);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HSET KEY v gar",
                "HSET KEY v a-long-text-that-nobody-wrote-as-an-envelope",
                "HSET KEY f odd",
                "HSET KEY v odd f odd s odd i odd i:x odd",
                "HSET KEY name Ada",
                "SET KEY text",
                "RPUSH KEY element",
                "SADD KEY member",
                "ZADD KEY 1 member"
            })
    void healsWhatIsNoEntry(String command) {
        for (Consistency consistency : Consistency.values()) {
            CacheKey<User> key = key(consistency, consistency + command);
            spoil(command, key);
            assertThat(a.cache().fetch(key, () -> STALE)).isEqualTo(STALE);
            assertThat(b.cache().fetch(key, () -> NEW)).isEqualTo(STALE);
            assertThat(redis.command("HLEN", "ec:" + key.name())).isEqualTo(1L);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"HSET KEY v odd s odd i odd i:x odd", "SET KEY text"})
    void updatesWhatIsNoEntry(String command) {
        for (Consistency consistency : Consistency.values()) {
            CacheKey<User> key = key(consistency, consistency + command);
            spoil(command, key);
            b.cache().update(List.of(key), () -> null);
            assertThat(a.cache().fetch(key, () -> NEW)).isEqualTo(NEW);
            assertThat(b.cache().fetch(key, () -> STALE)).isEqualTo(NEW);
        }
    }

    private void spoil(String command, CacheKey<User> key) {
        String[] words = command.split(" ");
        words[1] = "ec:" + key.name();
        redis.command(words);
    }

    @Test
    void healsAFieldWithoutAName() {
        CacheKey<User> key = key(Consistency.AP, 1);
        redis.command("HSET", "ec:" + key.name(), "", "nothing");
        assertThat(a.cache().fetch(key, () -> STALE)).isEqualTo(STALE);
        assertThat(redis.command("HLEN", "ec:" + key.name())).isEqualTo(1L);
    }

    @Test
    void leavesNothingOfKeysThatWereNeverCached() {
        for (int i = 0; i < 100; i++) {
            a.cache().update(List.of(key(Consistency.CP, i), key(Consistency.AP, "x" + i)), () -> null);
        }
        assertThat(redis.snapshot().keySet()).as("but the epochs").isSubsetOf("ec:epochs");
    }
}
