package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** One update of forty thousand keys takes longer than one command may. */
class LargeUpdatesIntegrationTests {

    private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);

    private final LettuceConnectionFactory factory = DedicatedConnections.copyOf(
            new LettuceConnectionFactory(
                    RedisServer.shared().host(), RedisServer.shared().port()),
            COMMAND_TIMEOUT);

    @BeforeEach
    void connect() {
        RedisServer.shared().flush();
        factory.afterPropertiesSet();
        await().ignoreExceptions().until(this::connects);
    }

    /** The first connection may take longer. */
    private boolean connects() {
        factory.getConnection().close();
        return true;
    }

    @AfterEach
    void close() {
        factory.destroy();
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNeitherRefusedNorTakenForAnIllness(Consistency consistency) {
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(factory, COMMAND_TIMEOUT))
                .build();
        CacheSpec<String> spec = CacheSpec.of("large", String.class)
                .withOptions(CacheOptions.builder().consistency(consistency).build());
        List<CacheKey<String>> keys =
                IntStream.range(0, 40_000).mapToObj(spec::key).toList();
        try {
            assertThat(cache.fetch(keys.get(39_999), () -> "old")).isEqualTo("old");
            assertThat(cache.update(keys, () -> "updated")).isEqualTo("updated");

            assertThat(Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER))
                            .state())
                    .isEqualTo(State.AVAILABLE);
            assertThat(cache.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
            if (consistency == Consistency.CP) {
                assertThat(cache.fetch(keys.get(39_999), () -> "new")).isEqualTo("new");
            }
        } finally {
            cache.stop();
        }
    }
}
