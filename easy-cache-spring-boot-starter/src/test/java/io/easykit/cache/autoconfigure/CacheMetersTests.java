package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.AvailabilityOptions;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.yaml.snakeyaml.Yaml;

/** The meters of a Redis, and that the documentation and the rules for Prometheus name all meters as they are. */
class CacheMetersTests {

    private static final Path DOCS = Path.of("..", "docs");

    /** Labels that Prometheus itself adds. */
    private static final Set<String> OF_PROMETHEUS = Set.of("instance", "le");

    /** A Redis that does not answer is not marked, so that the test alone changes its state. */
    private static final AvailabilityOptions NEVER_BY_ITSELF =
            new AvailabilityOptions(Duration.ofSeconds(10), 1, 1_000_000, Duration.ofSeconds(1), 1_000_000);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final LettuceConnectionFactory nowhere = new LettuceConnectionFactory("localhost", 1);
    private final MeteringCacheListener listener = new MeteringCacheListener(registry);
    private final EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
            .store("default", new RedisEntryStore(nowhere, Duration.ofMillis(100)))
            .availability(NEVER_BY_ITSELF)
            .listener(listener)
            .build();

    @BeforeEach
    void use() {
        new ClusterMeters(cache).bindTo(registry);
        CacheKey<String> key = CacheSpec.of("user", String.class).key(1);
        listener.onMiss(key);
        listener.onNodeAvailability("default", "slots 0-5460", State.AVAILABLE);
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
        Pattern row = Pattern.compile("(?m)^\\| `(easycache\\.[a-z.]+)` \\| (?:gauge|counter|timer) .*$");
        Map<String, String> documented = new HashMap<>();
        row.matcher(Files.readString(DOCS.resolve("easy-cache/operations.md")))
                .results()
                .forEach(found -> documented.put(found.group(1), found.group()));

        assertThat(documented.keySet())
                .isEqualTo(registry.getMeters().stream()
                        .map(meter -> meter.getId().getName())
                        .collect(Collectors.toSet()));
        for (Meter meter : registry.getMeters()) {
            String description = documented.get(meter.getId().getName());
            assertThat(description)
                    .contains("| " + meter.getId().getType().name().toLowerCase(Locale.ROOT) + " |");
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

    /** Names and labels as Prometheus gets them, with the values that are registered. */
    private Map<String, Map<String, Set<String>>> series() {
        Map<String, Map<String, Set<String>>> series = new HashMap<>();
        for (Meter meter : registry.getMeters()) {
            String name = meter.getId().getName().replace('.', '_');
            List<String> names =
                    switch (meter.getId().getType()) {
                        case COUNTER -> List.of(name + "_total");
                        case TIMER ->
                            Stream.of("count", "sum", "max")
                                    .map(part -> name + "_seconds_" + part)
                                    .toList();
                        default -> List.of(name);
                    };
            for (String one : names) {
                Map<String, Set<String>> labels = series.computeIfAbsent(one, key -> new HashMap<>());
                meter.getId().getTags().forEach(tag -> labels.computeIfAbsent(tag.getKey(), key -> new HashSet<>())
                        .add(tag.getValue()));
            }
        }
        return series;
    }

    @Test
    void areThoseOfTheRulesForPrometheus() throws IOException {
        Map<String, Map<String, Set<String>>> series = series();
        List<Map<String, Object>> rules = rules();
        assertThat(rules).hasSizeGreaterThanOrEqualTo(10);
        for (Map<String, Object> rule : rules) {
            String expression = (String) rule.get("expr");
            Set<String> labels = new HashSet<>(OF_PROMETHEUS);
            Matcher metric = Pattern.compile("(easycache_\\w+)(\\{[^}]*})?").matcher(expression);
            while (metric.find()) {
                assertThat(series).as(expression).containsKey(metric.group(1));
                Map<String, Set<String>> known = series.get(metric.group(1));
                labels.addAll(known.keySet());
                Matcher label =
                        Pattern.compile("(\\w+)=\"([^\"]*)\"").matcher(metric.group(2) == null ? "" : metric.group(2));
                while (label.find()) {
                    assertThat(known).as(expression).containsKey(label.group(1));
                    assertThat(known.get(label.group(1))).as(expression).contains(label.group(2));
                }
            }
            Matcher by = Pattern.compile("by \\(([^)]*)\\)").matcher(expression);
            while (by.find()) {
                assertThat(labels).as(expression).contains(by.group(1).split(", ", -1));
            }
            Matcher used = Pattern.compile("\\$labels\\.(\\w+)").matcher(String.valueOf(rule.get("annotations")));
            while (used.find()) {
                assertThat(labels).as(expression).contains(used.group(1));
            }
        }
    }

    /** Each rule has a test, and the series of the tests exist. */
    @Test
    void areThoseOfTheTestsOfTheRules() throws IOException {
        String tests = Files.readString(DOCS.resolve("prometheus/easykit-rules-tests.yml"));
        assertThat(rules()).allSatisfy(rule -> assertThat(tests).contains("alertname: " + rule.get("alert")));
        Matcher metric = Pattern.compile("(easycache_\\w+)\\{").matcher(tests);
        while (metric.find()) {
            assertThat(series()).containsKey(metric.group(1));
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> rules() throws IOException {
        Map<String, Object> file = new Yaml().load(Files.readString(DOCS.resolve("prometheus/easykit-rules.yml")));
        return ((List<Map<String, Object>>) file.get("groups"))
                .stream()
                        .filter(group -> "easy-cache".equals(group.get("name")))
                        .flatMap(group -> ((List<Map<String, Object>>) group.get("rules")).stream())
                        .toList();
    }
}
