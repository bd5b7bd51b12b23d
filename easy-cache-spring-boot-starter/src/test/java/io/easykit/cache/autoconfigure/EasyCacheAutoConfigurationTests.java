package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.Transactions;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.actuate.ClusterState;
import io.easykit.cache.actuate.EasyCacheHealthIndicator;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.aop.CacheAdvisor;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.transaction.SpringTransactions;
import io.easykit.test.StartFailure;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.CompositeTaskDecorator;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** An application without Redis starts and works. */
class EasyCacheAutoConfigurationTests {

    private static final CacheSpec<String> NAMES = CacheSpec.of("name", String.class);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    TransactionAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    DisabledEasyCacheAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheHealthAutoConfiguration.class,
                    EasyCacheMetricsAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1");

    @Test
    void goesOnWithoutRedis() {
        runner.withPropertyValues("easy-cache.circuit-breaker.probe-interval=10ms")
                .run(context -> {
                    EasyCache cache = context.getBean(EasyCache.class);
                    assertThat(cache.clusterIds()).containsExactly(CacheSpec.DEFAULT_CLUSTER);
                    assertThat(cache.fetch(NAMES.key(1), () -> "Eve")).isEqualTo("Eve");
                    await().until(() -> Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER))
                                    .state()
                            == State.UNAVAILABLE);
                    assertThat(cache.fetch(NAMES.key(2), () -> "Ada")).isEqualTo("Ada");
                    assertThat(cache.fetch(NAMES.key(2), () -> "Eve")).isEqualTo("Ada");
                });
    }

    @Test
    void keepsNothingLocallyIfToldSo() {
        runner.withPropertyValues("easy-cache.local.maximum-size=0").run(context -> {
            EasyCache cache = context.getBean(EasyCache.class);
            assertThat(cache.fetch(NAMES.key(1), () -> "Ada")).isEqualTo("Ada");
            assertThat(cache.fetch(NAMES.key(1), () -> "Eve")).isEqualTo("Eve");
        });
    }

    @Test
    void leavesTheBeansOfBootAlone() {
        runner.run(context -> {
            assertThat(context).hasSingleBean(RedisConnectionFactory.class);
            assertThat(context).hasSingleBean(StringRedisTemplate.class);
            assertThat(context).hasSingleBean(Executor.class).hasBean("applicationTaskExecutor");
        });
    }

    /** Beans that inject the cache start, and their calls run. */
    @ParameterizedTest
    @ValueSource(strings = {"false", "off", "No"})
    void isOffIfToldSo(String off) {
        runner.withPropertyValues("easy-cache.enabled=" + off)
                .withBean(Shelf.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context).doesNotHaveBean(CacheAdvisor.class);
                    assertThat(context).doesNotHaveBean(RedisConnections.class);
                    assertThat(context).doesNotHaveBean(EasyCacheHealthIndicator.class);
                    assertThat(context).hasSingleBean(ValueCodec.class);
                    Shelf shelf = context.getBean(Shelf.class);
                    for (int i = 1; i <= 3; i++) {
                        assertThat(shelf.read()).isEqualTo(i);
                        assertThat(shelf.annotated()).isEqualTo(i);
                        assertThat(shelf.update()).isEqualTo(i);
                    }
                    EasyCache cache = context.getBean(EasyCache.class);
                    assertThat(cache.clusterIds()).isEmpty();
                    cache.invalidate(Shelf.BOOKS.key(1));
                    cache.invalidateInTransaction(List.of(Shelf.BOOKS.key(1)));
                    IllegalStateException failure = new IllegalStateException("no database");
                    assertThatThrownBy(() -> cache.fetch(Shelf.BOOKS.key(1), () -> {
                                throw failure;
                            }))
                            .isSameAs(failure);
                });
    }

    static class Shelf {

        static final CacheSpec<Integer> BOOKS =
                CacheSpec.of("book", Integer.class).withClusterId("one-that-is-not-configured");

        private final EasyCache cache;
        private final int[] calls = new int[3];

        Shelf(EasyCache cache) {
            this.cache = cache;
        }

        int read() {
            return Objects.requireNonNull(cache.fetch(BOOKS.key(1), () -> ++calls[0]));
        }

        @Cacheable(prefix = "annotated", keys = "1")
        public int annotated() {
            return ++calls[1];
        }

        int update() {
            cache.updateInTransaction(List.of(BOOKS.key(1)), () -> null);
            return Objects.requireNonNull(cache.update(List.of(BOOKS.key(1)), () -> ++calls[2]));
        }
    }

    @Test
    void takesTheApplicationsOwnCache() {
        EasyCache own = EasyCacheEngine.builder(new JacksonValueCodec()).build();
        runner.withBean(EasyCache.class, () -> own).run(context -> {
            assertThat(context).getBean(EasyCache.class).isSameAs(own);
            assertThat(context).doesNotHaveBean(RedisConnections.class);
            assertThat(context).doesNotHaveBean("easyCacheBackground");
            assertThat(context).hasSingleBean(EasyCacheHealthIndicator.class);
        });
    }

    @Test
    void takesTheApplicationsOwnParts() {
        ValueCodec codec = new NoCodec();
        runner.withBean(ValueCodec.class, () -> codec)
                .withBean(Transactions.class, () -> Transactions.NONE)
                .run(context -> {
                    assertThat(context).getBean(ValueCodec.class).isSameAs(codec);
                    assertThat(context).getBean(Transactions.class).isSameAs(Transactions.NONE);
                });
    }

    /** Its transaction manager is created while it is. */
    @Test
    void takesOwnTransactionsThatNeedATransactionManager() {
        runner.withUserConfiguration(OwnTransactionsWithManager.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context).getBean(Transactions.class).isSameAs(Transactions.NONE);
            assertThat(context).hasSingleBean(PlatformTransactionManager.class);
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnTransactionsWithManager {

        @Bean
        Transactions own(PlatformTransactionManager manager) {
            assertThat(manager).isNotNull();
            return Transactions.NONE;
        }

        @Bean
        DataSourceTransactionManager transactionManager() {
            return new DataSourceTransactionManager(new JdbcDataSource());
        }
    }

    @Test
    void tellsEveryListenerAndLetsCustomizersAdjust() {
        List<String> heard = new ArrayList<>();
        runner.withBean("one", CacheListener.class, () -> misses(heard, "one"))
                .withBean("two", CacheListener.class, () -> misses(heard, "two"))
                .withBean(EasyCacheCustomizer.class, () -> builder -> builder.listener(misses(heard, "custom")))
                .run(context -> {
                    context.getBean(EasyCache.class).fetch(NAMES.key(1), () -> "Ada");
                    assertThat(heard).containsExactlyInAnyOrder("one", "two", "custom");
                });
    }

    @Test
    void knowsSpringsTransactions() {
        runner.run(context -> assertThat(context).getBean(Transactions.class).isInstanceOf(SpringTransactions.class));
    }

    @Test
    void worksWithoutSpringTx() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.port=1")
                .withClassLoader(new FilteredClassLoader(TransactionSynchronizationManager.class))
                .run(context -> {
                    assertThat(context).doesNotHaveBean(Transactions.class);
                    assertThat(context.getBean(EasyCache.class).fetch(NAMES.key(1), () -> "Ada"))
                            .isEqualTo("Ada");
                });
    }

    @Test
    void worksWithoutMicrometerAndHealth() {
        runner.withClassLoader(new FilteredClassLoader(MeterRegistry.class, HealthIndicator.class))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context).doesNotHaveBean(CacheListener.class);
                    assertThat(context).doesNotHaveBean("easyCacheHealthIndicator");
                });
    }

    @Test
    void metersOnlyWhereThereIsARegistry() {
        runner.run(context -> assertThat(context).doesNotHaveBean(CacheListener.class));
        runner.withBean(SimpleMeterRegistry.class).run(context -> {
            context.getBean(EasyCache.class).fetch(NAMES.key(1), () -> "Ada");
            assertThat(context.getBean(MeterRegistry.class)
                            .get("easycache.requests")
                            .tags("prefix", "name", "cluster", "default", "result", "miss")
                            .counter()
                            .count())
                    .isEqualTo(1);
        });
    }

    @Test
    void isNeverDownBecauseOfRedis() {
        runner.withPropertyValues("easy-cache.circuit-breaker.probe-interval=10ms")
                .run(context -> {
                    HealthIndicator indicator = context.getBean("easyCacheHealthIndicator", HealthIndicator.class);
                    await().until(() -> indicator.health().getDetails().get("default") instanceof ClusterState cluster
                            && cluster.state().equals("unavailable")
                            && cluster.problems().get(0).startsWith("Redis cannot be reached"));
                    assertThat(indicator.health().getStatus()).isEqualTo(Status.UNKNOWN);
                    ClusterState found =
                            (ClusterState) indicator.health().getDetails().get("default");
                    assertThat(found.problems()).hasSize(1);
                    assertThat(found)
                            .isEqualTo(new ClusterState("unavailable", false, 0, null, found.problems(), Map.of()));
                });
        runner.withPropertyValues("management.health.easyCache.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean("easyCacheHealthIndicator"));
    }

    @Test
    void takesTheApplicationsDecoratorForTasks() {
        TaskDecorator decorator = new CompositeTaskDecorator(List.of());
        runner.withBean(TaskDecorator.class, () -> decorator).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean("easyCacheBackground", BackgroundExecutor.class)
                            .isRunning())
                    .isTrue();
        });
    }

    /** The cache renews the marks of their updates. */
    @Test
    void stopsAfterTheCallsThatRun() {
        runner.run(context -> {
            int phase = context.getBean(EasyCacheLifecycle.class).getPhase();
            assertThat(context.getBeansOfType(BackgroundExecutor.class).values())
                    .hasSize(2)
                    .allMatch(calls -> calls.getPhase() > phase);
            assertThat(context.getBean(CallSteps.class).getPhase()).isGreaterThan(phase);
        });
    }

    @Test
    void stopsAndStartsAsOftenAsOneLikes() {
        runner.run(context -> {
            GenericApplicationContext lifecycle = (GenericApplicationContext) context.getSourceApplicationContext();
            RedisConnections connections = context.getBean(RedisConnections.class);
            Collection<BackgroundExecutor> executors =
                    context.getBeansOfType(BackgroundExecutor.class).values();
            for (int i = 0; i < 3; i++) {
                lifecycle.stop();
                assertThat(connections.isRunning()).isFalse();
                assertThat(executors).hasSize(2).noneMatch(BackgroundExecutor::isRunning);
                lifecycle.start();
                assertThat(connections.isRunning()).isTrue();
                assertThat(executors).allMatch(BackgroundExecutor::isRunning);
            }
        });
    }

    @Test
    void refusesAnUnknownSetting() {
        runner.withPropertyValues("easy-cache.caches.user.ttll=10m")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("easy-cache.caches.user.ttll")
                        .hasStackTraceContaining("does not exist"));
    }

    @Test
    void refusesSettingsThatCannotWork() {
        refuses("easy-cache.command-timeout=0s", "easy-cache.command-timeout is 0s", "250ms");
        refuses("easy-cache.local.ttl=0s", "easy-cache.local.ttl is 0s", "for example 5s");
        refuses("easy-cache.local.maximum-size=-1", "easy-cache.local.maximum-size is -1", "or 0 for none");
    }

    private void refuses(String setting, String problem, String remedy) {
        runner.withPropertyValues(setting).run(context -> {
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription()).contains(problem);
            assertThat(analysis.getAction()).contains(remedy);
        });
    }

    private static CacheListener misses(List<String> heard, String name) {
        return new CacheListener() {
            @Override
            public void onMiss(CacheKey<?> key) {
                heard.add(name);
            }
        };
    }

    private static final class NoCodec implements ValueCodec {

        @Override
        public byte[] encode(Object value, Type type) {
            return new byte[0];
        }

        @Override
        public Object decode(byte[] bytes, Type type) {
            return "";
        }
    }
}
