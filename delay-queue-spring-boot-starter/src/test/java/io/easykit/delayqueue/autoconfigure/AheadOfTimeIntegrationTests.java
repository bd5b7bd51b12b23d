package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
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

/** An application whose context was generated at build time, as for a native image, on the JVM. */
@CompileWithForkedClassLoader
class AheadOfTimeIntegrationTests {

    public record CloseOrder(long id) {}

    public static class Orders {

        private final List<CloseOrder> closed = new CopyOnWriteArrayList<>();

        @DelayListener(topic = "order-close")
        public void close(CloseOrder order) {
            closed.add(order);
        }

        public List<CloseOrder> closed() {
            return closed;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class})
    public static class Application {

        @Bean
        public Orders orders() {
            return new Orders();
        }
    }

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void deliversToListeners() {
        generated(initializer -> {
            try (GenericApplicationContext context = context("delay-queue.command-timeout=5s")) {
                initializer.initialize(context);
                context.refresh();

                context.getBean(DelayQueueTemplate.class).send("order-close", new CloseOrder(42), Duration.ofMillis(1));

                await().untilAsserted(() ->
                        assertThat(context.getBean(Orders.class).closed()).containsExactly(new CloseOrder(42)));
            }
        });
    }

    /** Settings are read when it starts, not when it is built. */
    @Test
    void reportsMistakesAtTheStart() {
        generated(initializer -> {
            try (GenericApplicationContext context = context("delay-queue.defaults.lease=0s")) {
                initializer.initialize(context);

                assertThatThrownBy(context::refresh)
                        .isInstanceOf(InvalidConfigurationException.class)
                        .hasMessageContaining("delay-queue.defaults.lease is 0s");
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

    @SuppressWarnings("unchecked")
    private static void generated(Consumer<ApplicationContextInitializer<GenericApplicationContext>> use) {
        AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext();
        source.register(Application.class);
        TestGenerationContext generation = new TestGenerationContext(AheadOfTimeIntegrationTests.class);
        ClassName name = new ApplicationContextAotGenerator().processAheadOfTime(source, generation);
        generation.writeGeneratedContent();
        TestCompiler.forSystem().with(generation).compile(compiled -> TestPropertyValues.of("spring.aot.enabled=true")
                .applyToSystemProperties(() -> {
                    use.accept(compiled.getInstance(ApplicationContextInitializer.class, name.toString()));
                    return null;
                }));
    }
}
