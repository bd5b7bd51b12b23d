package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.Transactions;
import io.easykit.test.StartFailure;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowingConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** An application without Redis starts. */
@ExtendWith(OutputCaptureExtension.class)
class DelayQueueAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    TaskExecutionAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    DelayQueueAutoConfiguration.class,
                    DisabledDelayQueueAutoConfiguration.class,
                    DelayQueueHealthAutoConfiguration.class,
                    DelayQueueMetricsAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1", "delay-queue.auto-startup=false");

    @Test
    void startsWithoutRedisAndSaysSoToSenders() {
        runner.withUserConfiguration(Orders.class)
                .withPropertyValues("delay-queue.auto-startup=true")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(DelayListenerRegistry.class).isRunning())
                            .isTrue();
                    DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
                    assertThatThrownBy(() -> template.send("orders", "1", Duration.ZERO))
                            .isInstanceOf(StoreUnavailableException.class);
                });
    }

    @Test
    void leavesTheBeansOfBootAlone() {
        runner.run(context -> {
            assertThat(context).hasSingleBean(RedisConnectionFactory.class);
            assertThat(context).hasSingleBean(StringRedisTemplate.class);
            assertThat(context).hasSingleBean(Executor.class).hasBean("applicationTaskExecutor");
            assertThat(context.getBean(LettuceConnectionFactory.class).getTimeout())
                    .isEqualTo(60_000);
        });
    }

    @Test
    void isOffIfToldSo() {
        runner.withUserConfiguration(Orders.class)
                .withPropertyValues("delay-queue.enabled=false")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context).doesNotHaveBean(QueueBackend.class);
                    assertThat(context).doesNotHaveBean("delayQueueHealthIndicator");
                    assertThat(context.getBean(DelayListenerRegistry.class).containers())
                            .isEmpty();
                    DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
                    assertThatThrownBy(() -> template.send("orders", "1", Duration.ZERO))
                            .isInstanceOf(DelayQueueDisabledException.class)
                            .hasMessageContaining("delay-queue.enabled")
                            .hasMessageContaining("delay-queue.when-disabled");
                    assertThatThrownBy(() -> template.cancel("orders", "1"))
                            .isInstanceOf(DelayQueueDisabledException.class);
                });
    }

    @Test
    void ignoresSendsWhileItIsOffIfToldSo() {
        runner.withUserConfiguration(Orders.class)
                .withPropertyValues("delay-queue.enabled=false", "delay-queue.when-disabled=ignore")
                .run(context -> {
                    DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
                    assertThat(template.send("orders", "1", Duration.ZERO).isDuplicate())
                            .isFalse();
                    assertThat(template.cancel("orders", "1")).isEqualTo(ChangeOutcome.GONE);
                    assertThat(template.find("orders", "1")).isEmpty();
                    assertThat(context.getBean(DelayQueueAdmin.class)
                                    .messages("orders", MessageQuery.dead())
                                    .messages())
                            .isEmpty();
                    assertThat(context.getBean(DelayQueueEngine.class)
                                    .stats("orders")
                                    .dead())
                            .isZero();
                });
    }

    @Test
    void takesTheApplicationsOwnParts() {
        PayloadCodec codec = new NoCodec();
        DelayListenerRegistry registry = new DelayListenerRegistry(false);
        runner.withBean(PayloadCodec.class, () -> codec)
                .withBean(Transactions.class, () -> Transactions.NONE)
                .withBean(DelayListenerRegistry.class, () -> registry)
                .run(context -> {
                    assertThat(context).getBean(PayloadCodec.class).isSameAs(codec);
                    assertThat(context).getBean(Transactions.class).isSameAs(Transactions.NONE);
                    assertThat(context).getBean(DelayListenerRegistry.class).isSameAs(registry);
                });
    }

    @Test
    void takesTheApplicationsOwnStoreAndNoConnectionsThen() {
        LettuceConnectionFactory connections = new LettuceConnectionFactory("localhost", 1);
        connections.afterPropertiesSet();
        RedisQueueStore store = new RedisQueueStore(connections);
        runner.withBean(QueueBackend.class, () -> store).run(context -> {
            assertThat(context).getBean(QueueBackend.class).isSameAs(store);
            assertThat(context).doesNotHaveBean(RedisConnections.class);
            assertThat(context).doesNotHaveBean(RedisStartupCheck.class);
            assertThat(context.getBean(HealthIndicator.class).health())
                    .extracting(Health::getStatus)
                    .isEqualTo(Status.DOWN);
        });
    }

    @Test
    void takesTheApplicationsOwnEngineAndTemplate() {
        DelayQueueEngine own = DelayQueueEngine.builder(
                        new RedisQueueStore(new LettuceConnectionFactory("localhost", 1)))
                .codec(new JacksonPayloadCodec())
                .build();
        DelayQueueTemplate template = own.template();
        runner.withBean(DelayQueueEngine.class, () -> own)
                .withBean(DelayQueueTemplate.class, () -> template)
                .run(context -> {
                    assertThat(context).getBean(DelayQueueEngine.class).isSameAs(own);
                    assertThat(context).getBean(DelayQueueTemplate.class).isSameAs(template);
                    assertThat(context).hasSingleBean(DelayQueueAdmin.class);
                });
    }

    @Test
    void tellsEventsToABeanThatSendsItself() {
        runner.withBean(RecordingSender.class)
                .withBean(QueueBackend.class, DelayQueueAutoConfigurationTests::storingStore)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    context.getBean(DelayQueueTemplate.class).send("orders", "1", Duration.ZERO);
                    assertThat(context.getBean(RecordingSender.class).sent)
                            .extracting(DelayQueueEvent.Sent::topic)
                            .containsExactly("orders", "echo");
                });
    }

    /** Accepts all messages. */
    private static QueueBackend storingStore() {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "declare" -> arguments[1];
                    case "fleet" -> FleetStore.NONE;
                    case "send" -> List.of(SendOutcome.STORED);
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    @Test
    void warnsOfALeaseThatAFewSlowCallsLose(CapturedOutput output) {
        runner.withUserConfiguration(Orders.class)
                .withPropertyValues("delay-queue.topics.orders.lease=900ms")
                .run(context -> assertThat(output)
                        .containsOnlyOnce("The lease of listener 'orders' is 900ms")
                        .contains("Set the lease to 1s or more"));
        runner.withUserConfiguration(Orders.class)
                .withPropertyValues("delay-queue.topics.orders.lease=1s")
                .run(context -> assertThat(output).containsOnlyOnce("The lease of listener"));
    }

    @Test
    void letsCustomizersAdjustTheBuilder() {
        AtomicInteger calls = new AtomicInteger();
        runner.withBean(DelayQueueCustomizer.class, () -> builder -> {
                    calls.incrementAndGet();
                    builder.node("node-1");
                })
                .run(context -> assertThat(calls).hasValue(1));
    }

    @Test
    void worksWithoutHealthMetricsAndTransactions() {
        runner.withClassLoader(new FilteredClassLoader(
                        HealthIndicator.class, MeterRegistry.class, TransactionSynchronizationManager.class))
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(DelayQueueTemplate.class);
                    assertThat(context).doesNotHaveBean(Transactions.class);
                    assertThat(context).doesNotHaveBean("delayQueueHealthIndicator");
                    assertThat(context).doesNotHaveBean("delayQueueMeters");
                });
    }

    @Test
    void hasMetersWhereThereIsARegistry() {
        runner.run(context -> assertThat(context).doesNotHaveBean("delayQueueMeters"));
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withUserConfiguration(Orders.class)
                .run(context -> {
                    assertThat(context).hasBean("delayQueueMeters");
                    assertThat(context.getBean(MeterRegistry.class)
                                    .get("delayqueue.messages")
                                    .tags("topic", "orders", "state", "dead")
                                    .gauge()
                                    .value())
                            .isNaN();
                });
    }

    @Test
    void isDownWhileRedisIsAway() {
        runner.withUserConfiguration(Orders.class).run(context -> {
            assertThat(context.getBean(HealthIndicator.class).health())
                    .extracting(Health::getStatus)
                    .isEqualTo(Status.DOWN);
        });
        runner.withPropertyValues("management.health.delayQueue.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
    }

    @Test
    void listensWithBeansThatWouldBeLazy() {
        runner.withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .withUserConfiguration(Orders.class)
                .run(context -> assertThat(
                                context.getBean(DelayListenerRegistry.class).topics())
                        .containsExactly("orders"));
    }

    @Test
    void makesNoBeanEarly() {
        runner.withUserConfiguration(Orders.class)
                .withBean("witness", Witness.class)
                .run(context -> assertThat(context.getBean(Witness.class).seen)
                        .contains(
                                "delayQueueEngine",
                                "delayQueueStore",
                                "delayListenerRegistry",
                                "redisConnectionFactory"));
    }

    @Test
    void doesNotStartListenersIfToldSoAlsoAfterAPause() {
        runner.withUserConfiguration(Orders.class).run(context -> {
            DelayListenerRegistry registry = context.getBean(DelayListenerRegistry.class);
            assertThat(registry.isRunning()).isFalse();
            assertThat(registry.container("orders")).isPresent();

            ConfigurableApplicationContext application =
                    context.getSourceApplicationContext(ConfigurableApplicationContext.class);
            application.pause();
            application.restart();

            assertThat(registry.isRunning()).isFalse();
        });
    }

    @Test
    void stopsListenersFirstAndConnectionsLast() {
        runner.run(context -> {
            assertThat(context.getBean(DelayListenerRegistry.class).getPhase()).isEqualTo(Integer.MAX_VALUE);
            assertThat(context.getBean(RedisConnections.class).getPhase())
                    .isLessThan(context.getBean(LettuceConnectionFactory.class).getPhase());
        });
    }

    /** A lifecycle bean starts the beans it depends on first, whatever their phase. */
    @Test
    void startsListenersLast() {
        runner.withUserConfiguration(Orders.class, Late.class)
                .withPropertyValues("delay-queue.auto-startup=true")
                .run(context -> {
                    context.stop();
                    context.start();

                    assertThat(context.getBean(DelayListenerRegistry.class).isRunning())
                            .isTrue();
                    assertThat(context.getBean(Late.class).wereListenersRunning).containsExactly(false, false);
                });
    }

    /** Starts after most beans. */
    static final class Late implements SmartLifecycle {

        private final List<Boolean> wereListenersRunning = new ArrayList<>();
        private final ObjectProvider<DelayListenerRegistry> listeners;
        private boolean running;

        Late(ObjectProvider<DelayListenerRegistry> listeners) {
            this.listeners = listeners;
        }

        @Override
        public void start() {
            wereListenersRunning.add(listeners.getObject().isRunning());
            running = true;
        }

        @Override
        public void stop() {
            running = false;
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return Integer.MAX_VALUE / 2;
        }
    }

    @Test
    void usesAnotherDriverAsItIs() {
        RedisConnectionFactory other = new OtherDriver();
        runner.withBean(RedisConnectionFactory.class, () -> other).run(context -> assertThat(
                        context.getBean(RedisConnections.class).factory())
                .isSameAs(other));
    }

    @Test
    void readsTheSettingsOfTopics() {
        runner.withUserConfiguration(Orders.class)
                .withPropertyValues(
                        "delay-queue.stop-timeout=7s",
                        "delay-queue.defaults.lease=40s",
                        "delay-queue.defaults.max-attempts=2",
                        "delay-queue.topics.orders.concurrency=6",
                        "delay-queue.topics.orders.dead-letter-retention=7d",
                        "delay-queue.topics.orders.lease-expired-delay=5s",
                        "delay-queue.topics.orders.wait-for-replicas=1",
                        "delay-queue.defaults.replica-timeout=20ms",
                        "delay-queue.topics.orders.back-off.delay=3s",
                        "delay-queue.topics.orders.alerts.max-lateness=1m",
                        "delay-queue.topics.orders.alerts.dead=0",
                        "delay-queue.topics.orders.no-retry-for=java.lang.IllegalStateException",
                        "delay-queue.topics[com.shop/other_topic].shards=4")
                .run(context -> {
                    DelayQueueProperties properties = context.getBean(DelayQueueProperties.class);
                    assertThat(properties.table().shards("com.shop/other_topic"))
                            .isEqualTo(4);
                    assertThat(properties.table().replicaWait("orders"))
                            .isEqualTo(new ReplicaWait(1, Duration.ofMillis(20)));
                    var endpoint = context.getBean(DelayListenerRegistry.class)
                            .container("orders")
                            .orElseThrow()
                            .endpoint();
                    assertThat(endpoint.stopTimeout()).isEqualTo(Duration.ofSeconds(7));
                    assertThat(endpoint.lease()).isEqualTo(Duration.ofSeconds(40));
                    assertThat(endpoint.concurrency()).isEqualTo(6);
                    assertThat(endpoint.deadLetterRetention()).isEqualTo(Duration.ofDays(7));
                    assertThat(endpoint.leaseExpiredDelay()).isEqualTo(Duration.ofSeconds(5));
                    assertThat(endpoint.retry().maxAttempts()).isEqualTo(4);
                    assertThat(endpoint.retry().firstDelay()).isEqualTo(Duration.ofSeconds(3));
                    assertThat(endpoint.alerts().maxLateness()).isEqualTo(Duration.ofMinutes(1));
                    assertThat(endpoint.alerts().dead()).isZero();
                    assertThat(endpoint.notRetried()).isEqualTo(List.of(IllegalStateException.class));
                });
    }

    @Test
    void refusesSettingsThatCannotWork() {
        refuses("delay-queue.command-timeout=0s", failure -> {
            assertThat(StartFailure.analysis(failure)).satisfies(analysis -> {
                assertThat(analysis.getDescription()).isEqualTo("The setting delay-queue.command-timeout is 0s.");
                assertThat(analysis.getAction()).contains("250ms");
            });
        });
        refuses("delay-queue.stop-timeout=-1s", failure -> assertThat(failure)
                .isInstanceOf(InvalidConfigurationException.class));
        refuses("delay-queue.topics[order close].lease=1s", failure -> {
            assertThat(StartFailure.analysis(failure)).satisfies(analysis -> {
                assertThat(analysis.getDescription())
                        .contains("delay-queue.topics[order close]")
                        .contains("is not usable");
                assertThat(analysis.getAction()).contains("Correct the name");
            });
        });
        refuses("delay-queue.lease=1s", failure -> assertThat(failure).hasMessageContaining("delay-queue.lease"));
        refuses("delay-queue.topics.orders.leese=1s", failure -> assertThat(failure)
                .hasMessageContaining("delay-queue.topics.orders.leese"));
        refuses("delay-queue.topics.orders.shards=0", failure -> assertThat(failure)
                .hasMessageContaining("delay-queue.topics.orders.shards is 0. Give 1 to 1024."));
        refuses("delay-queue.topics.orders.no-retry-for=com.shop.NoSuchException", failure -> assertThat(failure)
                .hasStackTraceContaining("com.shop.NoSuchException"));
        refuses("delay-queue.topics.orders.no-retry-for=java.lang.String", failure -> assertThat(failure)
                .hasMessageContaining("java.lang.String, which is no exception"));
        refuses("delay-queue.topics.orders.concurrency=0", failure -> assertThat(failure)
                .hasMessageContaining("concurrency is 0"));
    }

    private void refuses(String setting, ThrowingConsumer<Throwable> failure) {
        runner.withUserConfiguration(Orders.class).withPropertyValues(setting).run(context -> {
            assertThat(context).hasFailed();
            failure.accept(context.getStartupFailure());
        });
    }

    static class Orders {

        @DelayListener(topic = "orders", maxAttempts = "4")
        void on(String order) {}
    }

    static final class RecordingSender implements DelayQueueListener {

        private final List<DelayQueueEvent.Sent> sent = new ArrayList<>();
        private final DelayQueueTemplate template;

        RecordingSender(DelayQueueTemplate template) {
            this.template = template;
        }

        @Override
        public void onSent(DelayQueueEvent.Sent event) {
            sent.add(event);
            if (!event.topic().equals("echo")) {
                template.send("echo", "2", Duration.ZERO);
            }
        }
    }

    private static final class NoCodec implements PayloadCodec {

        @Override
        public Bytes encode(Object payload) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Object decode(Bytes body, Type type) {
            throw new UnsupportedOperationException();
        }
    }

    /** The last post-processor: it misses beans created before it. */
    static final class Witness implements BeanPostProcessor {

        private final Set<String> seen = new HashSet<>();

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            seen.add(beanName);
            return bean;
        }
    }

    private static final class OtherDriver implements RedisConnectionFactory {

        @Override
        public RedisConnection getConnection() {
            throw new RedisConnectionFailureException("away");
        }

        @Override
        public RedisClusterConnection getClusterConnection() {
            throw new RedisConnectionFailureException("away");
        }

        @Override
        public RedisSentinelConnection getSentinelConnection() {
            throw new RedisConnectionFailureException("away");
        }

        @Override
        public boolean getConvertPipelineAndTxResults() {
            return true;
        }

        @Override
        public @Nullable DataAccessException translateExceptionIfPossible(RuntimeException e) {
            return null;
        }
    }
}
