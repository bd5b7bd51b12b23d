package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.test.StartFailure;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Settings in environment variables and in system properties. */
@ExtendWith(OutputCaptureExtension.class)
class EnvironmentVariablesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
            .withBean(Users.class)
            .withPropertyValues("spring.data.redis.port=1");

    @Test
    void areReadInTheDocumentedSpelling(CapturedOutput output) {
        with(Map.of(
                        "EASYCACHE_CACHES_USER_NULLTTL", "5s",
                        "EASY_CACHE_COMMAND_TIMEOUT", "99ms",
                        "EASYCACHE_CLUSTERS_TRADE_HOST", "redis"))
                .run(context -> {
                    EasyCacheProperties settings = context.getBean(EasyCacheProperties.class);
                    assertThat(settings.caches()).containsOnlyKeys("user");
                    assertThat(settings.commandTimeout()).hasMillis(99);
                    assertThat(settings.clusters()).containsOnlyKeys("trade");
                });
        assertThat(output).doesNotContain("No setting of easy-cache");
    }

    @Test
    void areNamedIfTheySetNothing(CapturedOutput output) {
        with(Map.of(
                        "EASY_CACHE_CACHES_USER_TTL", "5m",
                        "EASYCACHE_DEFAULTS_TLL", "5m",
                        "EASY_CACHE_SERVICE_HOST", "10.0.0.11",
                        "EASY_CACHE_PORT", "tcp://10.0.0.11:6379"))
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output.getAll().lines().filter(line -> line.contains("No setting of easy-cache")))
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line)
                                .contains("WARN")
                                .contains("EASY_CACHE_CACHES_USER_TTL. Rename it to EASYCACHE_CACHES_USER_TTL."),
                        line -> assertThat(line)
                                .contains("EASYCACHE_DEFAULTS_TLL")
                                .contains("SPRING_APPLICATION_JSON"));
    }

    @Test
    void failTheStartAsSystemPropertiesIfTheyAreUnknown() {
        runner.withSystemProperties("easy-cache.defaults.tll=5m").run(context -> assertThat(
                        StartFailure.analysis(context.getStartupFailure()).getDescription())
                .contains("easy-cache.defaults.tll")
                .contains("does not exist"));
    }

    private ApplicationContextRunner with(Map<String, Object> variables) {
        return runner.withInitializer(context -> context.getEnvironment()
                .getPropertySources()
                .replace("systemEnvironment", new SystemEnvironmentPropertySource("systemEnvironment", variables)));
    }

    static class Users {

        @Cacheable(prefix = "user", keys = "#id")
        public String name(int id) {
            return "name " + id;
        }
    }
}
