package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Reads over one connection of Lettuce, with one thread for all calls. */
class AsyncReadIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** Time that a busy machine may add to any wait. */
    private static final Duration SLACK = Duration.ofSeconds(20);

    private final TcpProxy line = TcpProxy.to(RedisServer.shared());
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final AtomicInteger loads = new AtomicInteger();
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AutoClose("shutdownNow")
    private final ExecutorService only = Executors.newSingleThreadExecutor(task -> new Thread(task, "only"));

    private EasyCacheEngine cache;

    @BeforeEach
    void start() {
        RedisServer.shared().flush();
        cache = node(TIMEOUT);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened) {
            one.close();
        }
        line.close();
    }

    private EasyCacheEngine node(Duration timeout) {
        LettuceConnectionFactory factory =
                DedicatedConnections.copyOf(new LettuceConnectionFactory(line.host(), line.port()), timeout);
        factory.afterPropertiesSet();
        factory.start();
        opened.add(0, factory::destroy);
        RedisEntryStore store = new RedisEntryStore(factory, timeout);
        assertThat(store.isAsynchronous()).isTrue();
        await().ignoreExceptions().until(() -> {
            store.loadScripts();
            return true;
        });
        EasyCacheEngine made = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 5, Duration.ofSeconds(1), 3))
                .async(only)
                .build();
        opened.add(0, made::stop);
        return made;
    }

    private static CacheKey<String> key(Consistency consistency, Object id) {
        return CacheSpec.of("later-" + consistency, String.class)
                .withOptions(CacheOptions.builder()
                        .consistency(consistency)
                        .loadWaitTimeout(Duration.ofMinutes(1))
                        .build())
                .key(id);
    }

    private static <T> T result(CompletableFuture<T> future) throws Exception {
        return future.get(1, TimeUnit.MINUTES);
    }

    private CompletableFuture<String> load() {
        loads.incrementAndGet();
        return CompletableFuture.completedFuture(database.get());
    }

    /** Each key is cold and is read once. No load ends before all have begun. */
    @Test
    void aThousandColdReadsHoldNoThread() throws Exception {
        CompletableFuture<Void> mayEnd = new CompletableFuture<>();
        Set<String> threads = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<String>> reads = new ArrayList<>();
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        for (int i = 0; i < 1000; i++) {
            int row = i;
            reads.add(cache.async().fetch(key(i % 2 == 0 ? Consistency.AP : Consistency.CP, i), () -> {
                threads.add(Thread.currentThread().getName());
                loads.incrementAndGet();
                return mayEnd.thenApply(any -> "row " + row);
            }));
        }
        await().atMost(SLACK).until(() -> loads.get() == 1000);
        only.submit(() -> {}).get(1, TimeUnit.MINUTES);
        assertThat(reads).noneMatch(CompletableFuture::isDone);
        assertThat(Thread.getAllStackTraces().keySet().stream().filter(thread -> !before.contains(thread)))
                .as("threads that were started for the reads")
                .hasSizeLessThan(20);

        mayEnd.complete(null);
        for (int i = 0; i < 1000; i++) {
            assertThat(result(reads.get(i))).isEqualTo("row " + i);
        }
        for (int i = 0; i < 1000; i++) {
            assertThat(result(cache.async().fetch(key(i % 2 == 0 ? Consistency.AP : Consistency.CP, i), this::load)))
                    .isEqualTo("row " + i);
        }
        assertThat(loads).as("hits").hasValue(1000);
        assertThat(threads).containsExactly("only");
        assertThat(line.connections()).isEqualTo(1);
    }

    /** The reader has read the old value, then all of the update happens on another node, then the reader stores. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void nothingIsStoredThatAnUpdateHasOvertaken(Consistency consistency) throws Exception {
        EasyCacheEngine other = node(TIMEOUT);
        CacheKey<String> race = key(consistency, "race");
        CompletableFuture<Void> mayEnd = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> read = cache.async().fetch(race, () -> {
            String old = database.get();
            entered.complete(null);
            return loads.getAndIncrement() == 0 ? mayEnd.thenApply(any -> old) : CompletableFuture.completedFuture(old);
        });
        result(entered);
        other.update(List.of(race), () -> database.getAndSet("new"));
        mayEnd.complete(null);

        assertThat(result(read)).isEqualTo(consistency == Consistency.AP ? "old" : "new");
        assertThat(result(cache.async().fetch(race, this::load))).isEqualTo("new");
        assertThat(other.fetch(race, () -> "never")).isEqualTo("new");
    }

    /** The other node has no thread for the value either: it polls. */
    @Test
    void oneOfTwoNodesLoads() throws Exception {
        EasyCacheEngine other = node(TIMEOUT);
        CacheKey<String> key = key(Consistency.AP, "shared");
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> first = cache.async().fetch(key, () -> {
            entered.complete(null);
            return work;
        });
        result(entered);
        CompletableFuture<String> second = other.async().fetch(key, this::load);
        only.submit(() -> {}).get(1, TimeUnit.MINUTES);
        work.complete("shared");

        assertThat(result(first)).isEqualTo("shared");
        assertThat(result(second)).isEqualTo("shared");
        assertThat(loads).hasValue(0);
    }

    /** Each read ends with a loaded value after its command timeout, and soon without one: the circuit breaker opens. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void answersAreBoundedWhileRedisHangs(Consistency consistency) throws Exception {
        Duration timeout = Duration.ofMillis(250);
        EasyCacheEngine node = node(timeout);
        CacheKey<String> warm = key(consistency, "warm");
        assertThat(result(node.async().fetch(warm, this::load))).isEqualTo("old");
        line.freeze();
        long began = System.nanoTime();
        List<CompletableFuture<String>> reads = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            reads.add(node.async().fetch(key(consistency, "frozen" + i), this::load));
        }
        assertThat(reads).as("not on the thread of the caller").noneMatch(CompletableFuture::isDone);

        for (CompletableFuture<String> read : reads) {
            assertThat(result(read)).isEqualTo("old");
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isBetween(timeout.dividedBy(2), timeout.plus(SLACK));
        await().atMost(SLACK)
                .until(() ->
                        Objects.requireNonNull(node.availability("default")).state() == State.UNAVAILABLE);
        assertThat(loads).hasValue(21);
        line.heal();
    }
}
