package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.engine.LogCapture;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A narrow line to a Redis that is well. */
class LargeValuesIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);
    private static final int MEGABYTE = 1024 * 1024;
    private static final String LARGE = "x".repeat(MEGABYTE);

    private final CacheSpec<String> texts = CacheSpec.of("text", String.class);
    private final List<State> changes = new CopyOnWriteArrayList<>();
    private final RedisServer redis = RedisServer.start();

    @AutoClose
    private final TcpProxy line = TcpProxy.to(redis);

    private final LettuceConnectionFactory factory =
            DedicatedConnections.copyOf(new LettuceConnectionFactory(line.host(), line.port()), TIMEOUT);

    @AutoClose("shutdownNow")
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private EasyCacheEngine cache;

    @BeforeEach
    void start() {
        factory.afterPropertiesSet();
        factory.start();
        RedisEntryStore store = new RedisEntryStore(factory, TIMEOUT);
        await().ignoreExceptions().untilAsserted(store::loadScripts);
        cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(1), 0.5, 10, Duration.ofMillis(200), 3))
                .listener(new CacheListener() {
                    @Override
                    public void onAvailability(String clusterId, State state) {
                        changes.add(state);
                    }
                })
                .build();
    }

    @AfterEach
    void stop() {
        line.heal();
        cache.stop();
        factory.destroy();
        redis.close();
    }

    @Test
    void takesNoLargeReplyForAnIllServer() throws Exception {
        storeSmall();
        cache.fetch(texts.key("large"), () -> LARGE);
        line.bandwidth(2 * MEGABYTE);
        try (LogCapture log = LogCapture.of("io.easykit.redis")) {
            readAll(5, i -> cache.fetch(texts.key("large"), () -> LARGE), this::readSmall);
            assertThat(log.infos()).isEmpty();
        }
        assertThat(changes).isEmpty();
        line.bandwidth(0);
        await().untilAsserted(() ->
                assertThat(cache.fetch(texts.key("large"), () -> "loaded")).isEqualTo(LARGE));
    }

    @Test
    void takesNoLargeStoreForAnIllServer() throws Exception {
        storeSmall();
        line.bandwidth(2 * MEGABYTE);
        readAll(2, i -> cache.fetch(texts.key("new", i), () -> LARGE), this::readSmall);
        assertThat(changes).isEmpty();
        line.bandwidth(0);
        await().untilAsserted(() ->
                assertThat(cache.fetch(texts.key("new", 0), () -> "loaded")).isEqualTo(LARGE));
    }

    @Test
    void noticesAServerThatVanishesBehindALargeReply() throws Exception {
        cache.fetch(texts.key("large"), () -> LARGE);
        line.bandwidth(MEGABYTE);
        Future<?> reader = threads.submit(() -> cache.fetch(texts.key("large"), () -> LARGE));
        await().until(() -> line.replyBytes() > MEGABYTE / 4);
        line.freeze();
        reader.get();
        await().untilAsserted(() -> {
            readSmall(0);
            assertThat(changes).contains(State.UNAVAILABLE);
        });
    }

    @Test
    void noticesAServerThatVanishesBehindALargeStore() {
        storeSmall();
        AtomicInteger loads = new AtomicInteger();
        cache.fetch(texts.key("large"), () -> {
            line.freeze();
            loads.incrementAndGet();
            return LARGE.substring(0, 64 * 1024);
        });
        assertThat(loads).hasValue(1);
        await().untilAsserted(() -> {
            readSmall(0);
            assertThat(changes).contains(State.UNAVAILABLE);
        });
    }

    /** Its large replies come late, but then at once. */
    @Test
    void noticesASlowServerThatHasLargeValues() {
        cache.fetch(texts.key("large"), () -> LARGE);
        line.delay(TIMEOUT.multipliedBy(2));
        await().untilAsserted(() -> {
            cache.fetch(texts.key("large"), () -> LARGE);
            assertThat(changes).contains(State.UNAVAILABLE);
        });
    }

    private void storeSmall() {
        for (int i = 0; i < 8; i++) {
            readSmall(i);
        }
    }

    private void readSmall(int number) {
        assertThat(cache.fetch(texts.key("small", number), () -> "small")).isEqualTo("small");
    }

    /** Each large value is read once, the small ones by eight threads while the line is full. */
    private void readAll(int large, NumberedCall readLarge, NumberedCall readSmall) throws Exception {
        List<Future<?>> readers = new ArrayList<>();
        for (int i = 0; i < large; i++) {
            int number = i;
            readers.add(threads.submit(() -> readLarge.call(number)));
        }
        await().pollInterval(Duration.ofMillis(1)).until(() -> !isQuick(readSmall));
        AtomicInteger done = new AtomicInteger();
        List<Future<?>> others = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int number = i;
            others.add(threads.submit(() -> {
                while (done.get() == 0) {
                    readSmall.call(number);
                }
            }));
        }
        for (Future<?> reader : readers) {
            reader.get();
        }
        await().until(() -> isQuick(readSmall));
        done.incrementAndGet();
        for (Future<?> other : others) {
            other.get();
        }
    }

    private static boolean isQuick(NumberedCall call) {
        long began = System.nanoTime();
        call.call(0);
        return System.nanoTime() - began < TIMEOUT.toNanos() / 4;
    }

    private interface NumberedCall {
        void call(int number);
    }
}
