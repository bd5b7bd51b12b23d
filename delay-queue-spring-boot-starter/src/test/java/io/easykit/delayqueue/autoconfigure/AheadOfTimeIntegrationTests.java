package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.easykit.boot.InvalidConfigurationException;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent.AlertRaised;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import javax.sql.DataSource;
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
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

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

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        DataRedisAutoConfiguration.class,
        DelayQueueOutboxAutoConfiguration.class,
        DelayQueueAutoConfiguration.class
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

    /** Such as a secret that only the machine of the start has. */
    @Test
    void isBuiltWithPlaceholdersThatOnlyTheStartResolves() {
        String setting = "delay-queue.command-timeout=${NOT_YET}";
        generated(Application.class, List.of(setting), initializer -> {
            try (GenericApplicationContext context = context(setting, "NOT_YET=5s")) {
                initializer.initialize(context);
                context.refresh();

                assertThat(context.getBean(DelayQueueProperties.class).commandTimeout())
                        .isEqualTo(Duration.ofSeconds(5));
            }
        });
    }

    @Test
    void postsAlertsToAnAddressThatOnlyTheStartHas() throws IOException {
        List<String> bodies = new CopyOnWriteArrayList<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/alerts", exchange -> {
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
        String address = "http://localhost:" + receiver.getAddress().getPort() + "/alerts";
        try {
            generated(initializer -> {
                try (GenericApplicationContext context = context("delay-queue.webhook.url=" + address)) {
                    initializer.initialize(context);
                    context.refresh();

                    AlertRaised alert = new AlertRaised("orders", Kind.DEAD, 12, 10);
                    context.getBeanProvider(DelayQueueListener.class)
                            .forEach(listener -> listener.onAlertRaised(alert));

                    await().untilAsserted(() -> assertThat(bodies)
                            .singleElement()
                            .asString()
                            .contains("orders: dead is 12, over the limit of 10"));
                }
            });
        } finally {
            receiver.stop(0);
        }
    }

    @Test
    void hasNeitherWebhookNorOutboxIfOnlyTheBuildHadThem() {
        List<String> settings = List.of("delay-queue.webhook.url=http://localhost:1/", "delay-queue.send-phase=outbox");
        generated(StoringApplication.class, settings, initializer -> {
            try (GenericApplicationContext context = context()) {
                initializer.initialize(context);
                context.refresh();

                assertThat(context.getBeansOfType(AlertWebhook.class)).isEmpty();
                assertThat(context.getBeansOfType(SendOutbox.class)).isEmpty();
                assertThat(context.getBean(DelayQueueEngine.class).outbox()).isNull();
            }
        });
    }

    @Test
    void explainsThatAnOutboxWasNotInTheBuild() {
        generated(StoringApplication.class, List.of(), initializer -> {
            try (GenericApplicationContext context = context("delay-queue.send-phase=outbox")) {
                initializer.initialize(context);

                assertThatThrownBy(context::refresh)
                        .isInstanceOf(InvalidConfigurationException.class)
                        .hasMessageContaining("was built without delay-queue.send-phase=outbox")
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
