package io.easykit.cache.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.test.PrometheusRules;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The meters of a Redis, and that the documentation and the rules for Prometheus name all meters as they are. */
class CacheMetersTests {

    private static final Path DOCS = Path.of("..", "docs");

    /** A Redis that does not answer is not marked, so that the test alone changes its state. */
    private static final CircuitBreakerOptions NEVER_BY_ITSELF =
            new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 1_000_000, Duration.ofSeconds(1), 1_000_000);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final LettuceConnectionFactory nowhere = new LettuceConnectionFactory("localhost", 1);
    private final MeteringCacheListener listener = new MeteringCacheListener(registry);
    private final EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
            .store("default", new RedisEntryStore(nowhere, Duration.ofMillis(100)))
            .circuitBreaker(NEVER_BY_ITSELF)
            .listener(listener)
            .build();

    @BeforeEach
    void use() {
        new ClusterMeters(registry, cache);
        CacheKey<String> key = CacheSpec.of("user", String.class).key(1);
        listener.onMiss(key);
        listener.onMasterAvailability("default", "slots 0-5460", State.AVAILABLE);
        SerialMeters turns = new SerialMeters(registry);
        for (CacheListener.Turn turn : CacheListener.Turn.values()) {
            turns.onTurn(key, turn, Duration.ZERO, 1);
        }
    }

    @AfterEach
    void stop() {
        cache.stop();
        nowhere.destroy();
    }

    private double gauge(String name) {
        return registry.get(name).tags("cluster", "default").gauge().value();
    }

    private double changes(String state) {
        return registry.get("easycache.changes")
                .tags("cluster", "default", "state", state)
                .counter()
                .count();
    }

    @Test
    void showAForcedStateAndCountItsChanges() {
        assertThat(gauge("easycache.forced")).isZero();
        assertThat(changes("unavailable")).isZero();
        assertThat(changes("available")).isZero();

        Objects.requireNonNull(cache.availability("default")).force(State.UNAVAILABLE);
        assertThat(gauge("easycache.forced")).isEqualTo(1);
        assertThat(gauge("easycache.available")).isZero();
        assertThat(changes("unavailable")).isEqualTo(1);

        Objects.requireNonNull(cache.availability("default")).force(State.AVAILABLE);
        assertThat(gauge("easycache.forced")).isEqualTo(1);
        assertThat(changes("available")).isEqualTo(1);
    }

    @Test
    void areThoseOfTheDocumentation() throws IOException {
        Pattern row = Pattern.compile(
                "(?m)^\\| `(easycache\\.[a-z.]+)` \\| (?:gauge|counter|timer|distribution_summary) .*$");
        Map<String, String> documented = new HashMap<>();
        row.matcher(Files.readString(DOCS.resolve("easy-cache/operations.md")))
                .results()
                .forEach(found -> documented.put(found.group(1), found.group()));

        assertThat(documented.keySet())
                .isEqualTo(registry.getMeters().stream()
                        .map(meter -> meter.getId().getName())
                        .collect(Collectors.toSet()));
        for (Meter meter : registry.getMeters()) {
            String description =
                    Objects.requireNonNull(documented.get(meter.getId().getName()));
            assertThat(description)
                    .contains("| " + meter.getId().getType().name().toLowerCase(Locale.ROOT) + " |");
            if (meter instanceof Gauge) {
                assertThat("seconds".equals(meter.getId().getBaseUnit()))
                        .as(description)
                        .isEqualTo(description.contains("| seconds "));
            }
            for (Tag tag : meter.getId().getTags()) {
                boolean isEnum = Set.of("state", "result").contains(tag.getKey());
                if (!tag.getKey().equals("cluster")) {
                    assertThat(description)
                            .as(meter.getId().toString())
                            .contains("`" + (isEnum ? tag.getValue() : tag.getKey()) + "`");
                }
            }
        }
    }

    @Test
    void areThoseOfTheRulesForPrometheus() throws IOException {
        PrometheusRules rules = new PrometheusRules("easy-cache", "easycache");
        assertThat(rules.count()).isGreaterThanOrEqualTo(10);
        rules.requireMeters(registry);
        rules.requireTests(registry);
        rules.requireRows();
    }
}
