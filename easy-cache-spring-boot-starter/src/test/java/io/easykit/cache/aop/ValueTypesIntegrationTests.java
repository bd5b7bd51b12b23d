package io.easykit.cache.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.EasyCache;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.test.RedisServer;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.StandardEnvironment;

/**
 * Tries each type of {@link ValueZoo}, and compares the results with the table in {@code docs/easy-cache/values.md}. With
 * {@code -Deasykit.write-docs=true} it writes the table instead.
 */
class ValueTypesIntegrationTests {

    private static final Path DOCS = Path.of("../docs/easy-cache/values.md");
    private static final String BEGIN = "<!-- types: written by ValueTypesIntegrationTests -->\n";
    private static final String END = "<!-- end of types -->";

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    static class Application {}

    enum Verdict {
        EQUAL("comes back equal"),
        AT_START("refused at start"),
        AT_STORE("refused at the first store");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }
    }

    private static ConfigurableApplicationContext context;
    private static EasyCache cache;

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        redis.flush();
        context = new SpringApplicationBuilder(Application.class)
                .properties("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
                .properties("easy-cache.command-timeout=10s")
                .run();
        cache = context.getBean(EasyCache.class);
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @Test
    void findsWhatTheTableSays() throws Exception {
        String found = table();
        String docs = Files.readString(DOCS);
        int begin = docs.indexOf(BEGIN) + BEGIN.length();
        int end = docs.indexOf(END);
        assertThat(end).as("the marks of the table in %s", DOCS).isGreaterThanOrEqualTo(begin);
        if (Boolean.getBoolean("easykit.write-docs")) {
            Files.writeString(DOCS, docs.substring(0, begin) + found + docs.substring(end));
        } else {
            assertThat(docs.substring(begin, end))
                    .as("run this test with -Deasykit.write-docs=true")
                    .isEqualTo(found);
        }
    }

    private static String table() throws Exception {
        Map<Integer, String> rows = new TreeMap<>();
        String source = Files.readString(Path.of("src/test/java/io/easykit/cache/aop/ValueZoo.java"));
        for (Method method : ValueZoo.class.getDeclaredMethods()) {
            ValueZoo.Row row = method.getAnnotation(ValueZoo.Row.class);
            if (row != null) {
                int line = source.indexOf(" " + method.getName() + "()", source.indexOf("// JDK"));
                rows.put(line, "| " + row.value() + " | " + verdict(method).text + " |\n");
            }
        }
        assertThat(rows).hasSizeGreaterThanOrEqualTo(40);
        return "| type | |\n| --- | --- |\n" + String.join("", rows.values());
    }

    private static Verdict verdict(Method method) throws Exception {
        CachedMethods methods = new CachedMethods(
                new StandardEnvironment(),
                new DefaultListableBeanFactory(),
                new CacheSettingsTable("ec:", CacheSettings.NONE, Map.of(), Set.of()),
                new Staleness(DegradedOptions.defaults(), false));
        ReadOperation operation;
        try {
            operation = methods.read(method, ValueZoo.class);
            if (!methods.complete(cache.clusterIds(), cache::problemWith, new UnknownBeans(Set.of(), Set.of()))
                    .isEmpty()) {
                return Verdict.AT_START;
            }
        } catch (InvalidCacheDeclarationException refused) {
            return Verdict.AT_START;
        }
        Object value = method.invoke(new ValueZoo());
        CacheSpec<Object> spec = operation.spec();
        CacheKey<Object> key =
                new CacheSpec<>(spec.clusterId(), method.getName(), spec.type(), spec.options()).key("all");
        cache.fetch(key, () -> value);
        AtomicBoolean loaded = new AtomicBoolean();
        Object copy = cache.fetch(key, () -> {
            loaded.set(true);
            return value;
        });
        if (loaded.get()) {
            return Verdict.AT_STORE;
        }
        requireEqual(method, value, copy);
        return Verdict.EQUAL;
    }

    private static void requireEqual(Method method, @Nullable Object value, @Nullable Object copy) {
        if (value != null && !(value instanceof Collection<?>) && !(value instanceof Map<?, ?>)) {
            assertThat(copy).as(method.getName()).isNotNull().hasSameClassAs(value);
        }
        assertThat(copy).as(method.getName()).usingRecursiveComparison().isEqualTo(value);
    }
}
