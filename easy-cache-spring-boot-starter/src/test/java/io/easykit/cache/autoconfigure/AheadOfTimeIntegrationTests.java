package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.jdbc.OutboxSchema;
import io.easykit.cache.store.Outbox;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

/** An application whose context was generated at build time, as for a native image, on the JVM. */
@CompileWithForkedClassLoader
class AheadOfTimeIntegrationTests {

    public record Product(long id, String name) {}

    public static class Products {

        private final Map<Long, String> rows = new ConcurrentHashMap<>(Map.of(1L, "Lamp"));
        private final AtomicInteger loads = new AtomicInteger();

        public int loads() {
            return loads.get();
        }

        @Cacheable(prefix = "product", keys = "#id", staleWindow = "0s")
        public Product find(long id) {
            loads.incrementAndGet();
            return new Product(id, rows.getOrDefault(id, ""));
        }

        @UpdateCache(prefix = "product", keys = "#product.id")
        public void save(Product product) {
            rows.put(product.id(), product.name());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    public static class Application {

        @Bean
        public Products products() {
            return new Products();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheOutboxAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    public static class StoringApplication {

        @Bean
        public DataSource dataSource() {
            return new EmbeddedDatabaseBuilder()
                    .setType(EmbeddedDatabaseType.H2)
                    .generateUniqueName(true)
                    .build();
        }
    }

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void cachesAndInvalidates() {
        generated(initializer -> {
            try (GenericApplicationContext context = context("easy-cache.command-timeout=5s")) {
                initializer.initialize(context);
                context.refresh();
                Products products = context.getBean(Products.class);

                assertThat(products.find(1)).isEqualTo(products.find(1)).isEqualTo(new Product(1, "Lamp"));
                assertThat(products.loads()).isEqualTo(1);
                products.save(new Product(1, "Bulb"));
                assertThat(products.find(1).name()).isEqualTo("Bulb");
            }
        });
    }

    /** Settings are read when it starts, not when it is built. */
    @Test
    void reportsMistakesAtTheStart() {
        generated(initializer -> {
            try (GenericApplicationContext context = context("easy-cache.defaults.ttl=0s")) {
                initializer.initialize(context);

                assertThatThrownBy(context::refresh)
                        .isInstanceOf(InvalidConfigurationException.class)
                        .hasMessageContaining("easy-cache.defaults.ttl is 0s");
            }
        });
    }

    /** Such as a secret that only the machine of the start has. */
    @Test
    void isBuiltWithPlaceholdersThatOnlyTheStartResolves() {
        String setting = "easy-cache.command-timeout=${NOT_YET}";
        generated(Application.class, List.of(setting), initializer -> {
            try (GenericApplicationContext context = context(setting, "NOT_YET=5s")) {
                initializer.initialize(context);
                context.refresh();

                assertThat(context.getBean(EasyCacheProperties.class).commandTimeout())
                        .isEqualTo(Duration.ofSeconds(5));
            }
        });
    }

    @Test
    void hasNoOutboxIfOnlyTheBuildHadOne() {
        generated(StoringApplication.class, List.of("easy-cache.outbox=jdbc"), initializer -> {
            try (GenericApplicationContext context = context()) {
                initializer.initialize(context);
                context.refresh();

                assertThat(context.getBeansOfType(Outbox.class)).isEmpty();
                assertThat(context.getBeansOfType(OutboxSchema.class)).isEmpty();
            }
        });
    }

    @Test
    void explainsThatAnOutboxWasNotInTheBuild() {
        generated(StoringApplication.class, List.of(), initializer -> {
            try (GenericApplicationContext context = context("easy-cache.outbox=jdbc")) {
                initializer.initialize(context);

                assertThatThrownBy(context::refresh)
                        .isInstanceOf(InvalidConfigurationException.class)
                        .hasMessageContaining("was built without easy-cache.outbox=jdbc")
                        .hasMessageContaining("at the build, too");
            }
        });
    }

    private static GenericApplicationContext context(String... settings) {
        GenericApplicationContext context = new GenericApplicationContext();
        TestPropertyValues.of(settings)
                .and("spring.data.redis.url=" + RedisServer.shared().uri())
                .applyTo(context);
        return context;
    }

    private static void generated(Consumer<ApplicationContextInitializer<GenericApplicationContext>> use) {
        generated(Application.class, List.of(), use);
    }

    /** @param settings those of the build */
    @SuppressWarnings("unchecked")
    private static void generated(
            Class<?> application,
            List<String> settings,
            Consumer<ApplicationContextInitializer<GenericApplicationContext>> use) {
        AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext();
        TestPropertyValues.of(settings).applyTo(source);
        source.register(application);
        TestGenerationContext generation = new TestGenerationContext(AheadOfTimeIntegrationTests.class);
        ClassName name = TestPropertyValues.of("spring.aot.processing=true")
                .applyToSystemProperties(
                        () -> new ApplicationContextAotGenerator().processAheadOfTime(source, generation));
        generation.writeGeneratedContent();
        TestCompiler.forSystem().with(generation).compile(compiled -> TestPropertyValues.of("spring.aot.enabled=true")
                .applyToSystemProperties(() -> {
                    use.accept(compiled.getInstance(ApplicationContextInitializer.class, name.toString()));
                    return null;
                }));
    }
}
