package io.easykit.cache.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Updates during the shutdown of the application. */
@ExtendWith(OutputCaptureExtension.class)
class LateUpdatesIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
            .withPropertyValues(
                    "spring.data.redis.host=" + RedisServer.shared().host(),
                    "spring.data.redis.port=" + RedisServer.shared().port(),
                    "easy-cache.command-timeout=2s")
            .withBean(Names.class)
            .withBean(LastWill.class);

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    @ParameterizedTest
    @ValueSource(strings = {"AP", "CP"})
    void reachRedisWhileBeansAreDestroyed(String consistency) {
        AtomicReference<Names> names = new AtomicReference<>();
        runner.withPropertyValues("easy-cache.caches.name.consistency=" + consistency)
                .run(context -> {
                    names.set(context.getBean(Names.class));
                    assertThat(names.get().find("last")).isEqualTo("old");
                    assertThat(keys()).hasSize(1);
                });

        boolean stale = consistency.equals("AP");
        try (RawRedis redis = RedisServer.shared().connect()) {
            for (Object key : keys()) {
                assertThat(stale).isTrue();
                assertThat(redis.command("HEXISTS".getBytes(UTF_8), (byte[]) key, "s".getBytes(UTF_8)))
                        .isEqualTo(1L);
            }
        }
    }

    @Test
    void clearACacheWhileBeansAreDestroyed() {
        runner.withBean(LastClearing.class).run(context -> {
            context.getBean(Names.class).find("last");
            assertThat(epochs()).isEmpty();
        });

        assertThat(epochs()).hasSize(1);
    }

    @Test
    void areLostWithAWarningThatNamesThemIfRedisIsAway(CapturedOutput output) {
        RedisServer own = RedisServer.start();
        long[] began = {0};
        runner.withPropertyValues("spring.data.redis.host=" + own.host(), "spring.data.redis.port=" + own.port())
                .run(context -> {
                    context.getBean(Names.class).find("last");
                    own.close();
                    began[0] = System.nanoTime();
                });

        assertThat(Duration.ofNanos(System.nanoTime() - began[0])).isLessThan(Duration.ofSeconds(20));
        assertThat(output.getOut().lines().filter(line -> line.contains("invalidations were not delivered")))
                .singleElement()
                .asString()
                .contains("WARN", "name::last", "default");
    }

    private static List<?> keys() {
        try (RawRedis redis = RedisServer.shared().connect()) {
            return (List<?>) redis.command("KEYS", "*name::last");
        }
    }

    private static List<?> epochs() {
        try (RawRedis redis = RedisServer.shared().connect()) {
            return ((List<?>) redis.command("HMGET", "ec:epochs", "name"))
                    .stream().filter(Objects::nonNull).toList();
        }
    }

    static class LastClearing {

        private final EasyCache cache;

        LastClearing(EasyCache cache) {
            this.cache = cache;
        }

        @PreDestroy
        void clear() {
            cache.invalidateAll(CacheSpec.of("name", String.class));
        }
    }

    static class Names {

        @Cacheable(prefix = "name", keys = "#id")
        public String find(String id) {
            return "old";
        }

        @UpdateCache(prefix = "name", keys = "#id")
        public void rename(String id) {}
    }

    static class LastWill {

        private final Names names;

        LastWill(Names names) {
            this.names = names;
        }

        @PreDestroy
        void rename() {
            for (int i = 0; i < 3; i++) {
                names.rename("last");
            }
        }
    }
}
