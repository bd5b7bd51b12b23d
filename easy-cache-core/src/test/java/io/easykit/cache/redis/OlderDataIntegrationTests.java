package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A server with snapshots and without an append-only file is killed, and restarts with the last snapshot. */
class OlderDataIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final List<Runnable> opened = new ArrayList<>();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final RedisServer server = RedisServer.start("--save", "3600 1");

    @AfterEach
    void close() {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).run();
        }
        server.close();
    }

    private EasyCacheEngine node() {
        LettuceConnectionFactory own = DedicatedConnections.copyOf(
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port())), TIMEOUT);
        own.start();
        opened.add(own::destroy);
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(own, TIMEOUT))
                .build();
        opened.add(cache::stop);
        return cache;
    }

    private long mark() {
        try (RawRedis redis = server.connect()) {
            Object mark = redis.command("HGET", "ec:epochs", "::mark");
            return mark == null ? 0 : Long.parseLong(RawRedis.text((byte[]) mark));
        }
    }

    private void run(String... command) {
        try (RawRedis redis = server.connect()) {
            Objects.requireNonNull(redis.command(command));
        }
    }

    /** The node that updated is gone, so nothing is repeated. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void noNodeReadsWhatWasInvalidatedAfterTheSnapshot(Consistency consistency) {
        CacheSpec<String> spec = CacheSpec.of("stock", String.class);
        CacheKey<String> key = spec.withOptions(
                        spec.options().toBuilder().consistency(consistency).build())
                .key(1);
        EasyCacheEngine loader = node();
        loader.fetch(key, database::get);
        await().until(() -> mark() > 0);
        run("SAVE");
        run("HINCRBY", "ec:epochs", "::mark", "600"); // as after ten minutes
        EasyCacheEngine reader = node();
        assertThat(reader.fetch(key, () -> "never")).isEqualTo("old");
        long later = mark();
        await().until(() -> mark() > later);
        loader.update(List.of(key), () -> {
            database.set("new");
            return null;
        });
        await().until(() -> reader.fetch(key, database::get), "new"::equals);
        loader.stop();
        server.restart();
        assertThat(mark()).isLessThan(later);

        long restored = mark();
        await().until(() -> mark() > restored); // by the reader, over its new connection
        for (int i = 0; i < 100; i++) {
            assertThat(reader.fetch(key, database::get)).isEqualTo("new");
        }
        await().untilAsserted(() -> assertThat(node().fetch(key, database::get)).isEqualTo("new"));
    }
}
