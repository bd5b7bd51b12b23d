package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.reset;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.actuate.ClusterState;
import io.easykit.cache.actuate.EasyCacheEndpoint;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.NearHintSubscription;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.cache.store.EntryStore;
import io.easykit.redis.OwnConnections;
import io.easykit.test.StartFailure;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.jmx.JmxEndpointsSupplier;
import org.springframework.boot.actuate.endpoint.jmx.JmxOperation;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.test.util.ReflectionTestUtils;

/** Several unavailable Redis servers. */
class ClusterAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    SslAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheAdminAutoConfiguration.class,
                    EasyCacheHealthAutoConfiguration.class,
                    EasyCacheMetricsAutoConfiguration.class,
                    EasyCacheEndpointAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1", "spring.data.redis.password=of the application");

    /** Contexts of other tests may be open. */
    private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();

    @AfterEach
    void leavesNoRecoveryThread() {
        await().untilAsserted(() -> assertThat(recoveryStacks()).isEmpty());
    }

    @Test
    void takesTheSettingsOfSpringDataRedisForEachCluster() {
        runner.withPropertyValues(
                        "easy-cache.clusters.single.host=redis.example",
                        "easy-cache.clusters.single.port=6390",
                        "easy-cache.clusters.single.database=7",
                        "easy-cache.clusters.single.username=cache",
                        "easy-cache.clusters.single.password=secret",
                        "easy-cache.clusters.single.client-name=shop",
                        "easy-cache.clusters.url.url=rediss://cache:secret@redis.example:6391/3",
                        "easy-cache.clusters.sentinel.sentinel.master=main",
                        "easy-cache.clusters.sentinel.sentinel.nodes=one:26379,two:26379",
                        "easy-cache.clusters.cluster.cluster.nodes=one:6379,two:6379",
                        "easy-cache.clusters.tls.ssl.enabled=true")
                .run(context -> {
                    assertThat(context.getBean(EasyCache.class).clusterIds())
                            .containsExactlyInAnyOrder("default", "single", "url", "sentinel", "cluster", "tls");
                    LettuceConnectionFactory single = factory(context, "single");
                    assertThat(single.getHostName()).isEqualTo("redis.example");
                    assertThat(single.getPort()).isEqualTo(6390);
                    assertThat(single.getDatabase()).isEqualTo(7);
                    assertThat(single.getPassword()).isEqualTo("secret");
                    assertThat(single.getClientName()).isEqualTo("shop");
                    assertThat(single.isUseSsl()).isFalse();
                    LettuceConnectionFactory url = factory(context, "url");
                    assertThat(url.getHostName()).isEqualTo("redis.example");
                    assertThat(url.getDatabase()).isEqualTo(3);
                    assertThat(url.isUseSsl()).isTrue();
                    assertThat(factory(context, "sentinel").isRedisSentinelAware())
                            .isTrue();
                    assertThat(factory(context, "cluster").isClusterAware()).isTrue();
                    assertThat(factory(context, "tls").isUseSsl()).isTrue();
                    assertThat(factory(context, "tls").getPassword()).isNull();
                });
    }

    @Test
    void showsTheClustersOfACacheOfTheApplicationsOwn() {
        EasyCache own = EasyCacheEngine.builder(new JacksonValueCodec()).build();
        runner.withPropertyValues("management.endpoints.web.exposure.include=easycache")
                .withBean(EasyCache.class, () -> own)
                .run(context -> {
                    assertThat(context).doesNotHaveBean(EasyCacheAdmin.class);
                    EasyCacheEndpoint endpoint = context.getBean(EasyCacheEndpoint.class);
                    assertThat(endpoint.clusters()).isEmpty();
                    assertThatThrownBy(() -> endpoint.show("caches", null, null, null, null))
                            .isInstanceOf(InvalidEndpointRequestException.class)
                            .hasMessageStartingWith("This application replaces EasyCache");
                    assertThatThrownBy(() -> endpoint.act("drop", null, "user", null, null, null))
                            .isInstanceOf(InvalidEndpointRequestException.class)
                            .hasMessageStartingWith("This application replaces EasyCache");
                });
    }

    @Test
    void looksAfterTheClustersOfACacheOfTheApplicationsOwnUntilItEnds() {
        EntryStore store = new RedisEntryStore(new LettuceConnectionFactory(), Duration.ofSeconds(1));
        runner.withBean(EasyCache.class, () -> EasyCacheEngine.builder(new JacksonValueCodec())
                        .store("own", store)
                        .build())
                .run(context -> assertThat(recoveryThreads()).containsExactly("easy-cache-recovery-own"));
    }

    @Test
    void takesNoPartThatIsNoText() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=easycache")
                .run(context -> {
                    EasyCacheEndpoint endpoint = context.getBean(EasyCacheEndpoint.class);
                    for (Object part : List.of(Arrays.asList("a", null), List.of(List.of("a")), Map.of("a", 1))) {
                        assertThatThrownBy(() -> endpoint.act("evict", null, "user", part, null, null))
                                .isInstanceOf(InvalidEndpointRequestException.class)
                                .hasMessageContaining("Give each part of the key as a text.");
                    }
                });
    }

    @Test
    void leavesTheApplicationItsOwnConnection() {
        runner.withPropertyValues("easy-cache.clusters.trade.port=2").run(context -> {
            assertThat(context).hasSingleBean(RedisConnectionFactory.class);
            assertThat(context.getBean(LettuceConnectionFactory.class).getPort())
                    .isEqualTo(1);
        });
    }

    @Test
    void refusesWhatNoClusterCanHave() {
        runner.withPropertyValues("easy-cache.clusters.trade.hots=redis.example")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("easy-cache.clusters.trade.hots"));
        runner.withPropertyValues("easy-cache.clusters.trade.ssl.bundle=none")
                .run(context -> assertThat(context.getStartupFailure()).hasMessageContaining("ssl.bundle is 'none'"));
        refuses("easy-cache.clusters.default.port=2", "is the application's own", "choose another name");
    }

    @Test
    void refusesSettingsThatCannotWork() {
        refuses(
                "easy-cache.circuit-breaker.failure-rate=2",
                "easy-cache.circuit-breaker.failure-rate is 2.0",
                "up to 1");
        refuses("easy-cache.circuit-breaker.window=1ms", "easy-cache.circuit-breaker.window is too short", "100ms");
        refuses("easy-cache.circuit-breaker.window=99ms", "easy-cache.circuit-breaker.window is too short", "100ms");
        refuses("easy-cache.circuit-breaker.probe-interval=2s", "probe-interval is 2s", "Choose 1ms to 1s");
        refuses("easy-cache.degraded.concurrent-loads=0", "easy-cache.degraded.concurrent-loads is 0", "1 to 1000000");
        refuses("easy-cache.degraded.concurrent-loads=2147483647", "concurrent-loads is 2147483647", "1 to 1000000");
        refuses(
                "easy-cache.degraded.max-pending-invalidations=0",
                "easy-cache.degraded.max-pending-invalidations is 0",
                "1 or more");
    }

    @Test
    void refusesToStartWithoutRedisIfThatWasChosen() {
        refuses("easy-cache.require-redis-at-start=true", "Redis 'default' does not reply", "Start that Redis");
        runner.run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void looksAfterItsClustersOnlyWhileItRuns() {
        runner.withPropertyValues("easy-cache.clusters.trade.port=2").run(context -> {
            assertThat(context.getBean(EasyCacheLifecycle.class).isRunning()).isTrue();
            assertThat(recoveryThreads()).contains("easy-cache-recovery-default", "easy-cache-recovery-trade");
            for (int i = 0; i < 2; i++) {
                stop(context);
                leavesNoRecoveryThread();
                start(context);
                assertThat(recoveryThreads()).hasSize(2);
            }
        });
    }

    @Test
    void stopsTheOtherClustersAlthoughOneFails() {
        runner.withPropertyValues("easy-cache.clusters.first.port=2", "easy-cache.clusters.second.port=2")
                .run(context -> {
                    NamedClusters clusters = context.getBean(NamedClusters.class);
                    RedisConnections first =
                            Objects.requireNonNull(clusters.connections().get("first"));
                    List<LettuceConnectionFactory> own = List.of(factory(context, "first"), factory(context, "second"));
                    NearHintSubscription failing = mock(NearHintSubscription.class);
                    doThrow(new IllegalStateException("a defect")).when(failing).stop();
                    ReflectionTestUtils.setField(first, "hints", failing);
                    assertThat(own).allMatch(LettuceConnectionFactory::isRunning);

                    assertThatThrownBy(clusters::stop).hasMessage("a defect");
                    assertThat(own).noneMatch(LettuceConnectionFactory::isRunning);

                    Map<?, ?> contexts = (Map<?, ?>) ReflectionTestUtils.getField(clusters, "contexts");
                    assertThatThrownBy(clusters::destroy).hasMessage("a defect");
                    assertThat(contexts.values()).hasSize(2).noneMatch(one -> ((ConfigurableApplicationContext) one)
                            .isActive());
                    reset(failing);
                });
    }

    /** A registry of a parent context outlives the cache, and would ignore the gauges of the next one. */
    @Test
    void metersTheClustersInARegistryOfAParentContextUntilItEnds() {
        new ApplicationContextRunner()
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .run(parent -> {
                    MeterRegistry meters = parent.getBean(MeterRegistry.class);
                    for (String state : List.of("unavailable", "available")) {
                        runner.withParent(parent)
                                .withPropertyValues("easy-cache.clusters.trade.port=2")
                                .run(context -> {
                                    EasyCache cache = context.getBean(EasyCache.class);
                                    Objects.requireNonNull(cache.availability("trade"))
                                            .force(State.valueOf(state.toUpperCase(Locale.ROOT)));
                                    assertThat(gauge(meters, "easycache.forced", "trade"))
                                            .isEqualTo(1);
                                    assertThat(gauge(meters, "easycache.available", "trade"))
                                            .isEqualTo(state.equals("available") ? 1 : 0);
                                });
                        assertThat(meters.getMeters())
                                .noneMatch(meter -> meter.getId().getType() == Meter.Type.GAUGE);
                    }
                });
    }

    /** Nothing else needs the bean. */
    @Test
    void metersTheClustersOfALazyApplication() {
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> assertThat(gauge(context.getBean(MeterRegistry.class), "easycache.forced", "default"))
                        .isZero());
    }

    @Test
    void metersTheClustersInEachRegistryOnce() {
        SimpleMeterRegistry first = new SimpleMeterRegistry();
        SimpleMeterRegistry second = new SimpleMeterRegistry();
        CompositeMeterRegistry all = new CompositeMeterRegistry(Clock.SYSTEM, List.of(first, second));
        runner.withBean("first", MeterRegistry.class, () -> first)
                .withBean("second", MeterRegistry.class, () -> second)
                .withBean("all", MeterRegistry.class, () -> all, definition -> definition.setPrimary(true))
                .run(context -> {
                    assertThat(first.find("easycache.available").gauges()).hasSize(1);
                    assertThat(second.find("easycache.available").gauges()).hasSize(1);
                });
        assertThat(first.find("easycache.available").gauges()).isEmpty();
        assertThat(second.find("easycache.available").gauges()).isEmpty();
    }

    @Test
    void tellsOfEveryChange() {
        List<RedisAvailabilityEvent> events = new ArrayList<>();
        runner.withPropertyValues(
                        "easy-cache.clusters.trade.port=2",
                        "management.endpoints.web.exposure.include=easycache",
                        "spring.jmx.enabled=true",
                        "management.endpoints.jmx.exposure.include=easycache")
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withInitializer(context ->
                        context.addApplicationListener((ApplicationListener<PayloadApplicationEvent<?>>) event -> {
                            if (event.getPayload() instanceof RedisAvailabilityEvent change) {
                                events.add(change);
                            }
                        }))
                .run(context -> {
                    EasyCacheEndpoint endpoint = context.getBean(EasyCacheEndpoint.class);
                    MeterRegistry meters = context.getBean(MeterRegistry.class);

                    force(endpoint, "unavailable");
                    context.getBean(EasyCache.class)
                            .invalidate(CacheSpec.of("stock", String.class)
                                    .withClusterId("trade")
                                    .key(1));

                    ClusterState trade =
                            Objects.requireNonNull(endpoint.clusters().get("trade"));
                    assertThat(trade)
                            .isEqualTo(new ClusterState("unavailable", true, 1, null, trade.problems(), Map.of()));
                    assertThat(events).containsExactly(new RedisAvailabilityEvent("trade", "", State.UNAVAILABLE));
                    assertThat(gauge(meters, "easycache.available", "trade")).isZero();
                    assertThat(gauge(meters, "easycache.undelivered", "trade")).isEqualTo(1);
                    assertThat(gauge(meters, "easycache.available", "default")).isEqualTo(1);
                    Health health = context.getBean("easyCacheHealthIndicator", HealthIndicator.class)
                            .health();
                    assertThat(health.getStatus()).isEqualTo(Status.UNKNOWN);
                    assertThat(health.getDetails()).containsKeys("default", "trade");

                    force(endpoint, "available");
                    assertThat(endpoint.clusters().get("trade").state()).isEqualTo("available");
                    assertThat(gauge(meters, "easycache.available", "trade")).isEqualTo(1);
                    force(endpoint, "auto");
                    assertThat(endpoint.clusters().get("trade").forced()).isFalse();
                });
    }

    @Test
    void showsItsStateToOperatorsAndLetsOnlyThoseWithFullAccessForceIt() {
        ApplicationContextRunner operated = runner.withConfiguration(AutoConfigurations.of(
                        JmxAutoConfiguration.class,
                        EndpointAutoConfiguration.class,
                        JmxEndpointAutoConfiguration.class))
                .withPropertyValues("spring.jmx.enabled=true");
        operated.withPropertyValues("management.endpoints.jmx.exposure.include=health")
                .run(context -> assertThat(context).doesNotHaveBean(EasyCacheEndpoint.class));
        operated.withPropertyValues("management.endpoints.jmx.exposure.include=easycache")
                .run(context -> assertThat(operations(context)).containsExactlyInAnyOrder("clusters", "show"));
        operated.withPropertyValues(
                        "management.endpoints.jmx.exposure.include=easycache",
                        "management.endpoint.easycache.access=UNRESTRICTED")
                .run(context -> assertThat(operations(context)).containsExactlyInAnyOrder("clusters", "show", "act"));
    }

    private void refuses(String setting, String problem, String remedy) {
        runner.withPropertyValues(setting).run(context -> {
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription()).contains(problem);
            assertThat(analysis.getAction()).contains(remedy);
        });
    }

    private static void force(EasyCacheEndpoint endpoint, String state) {
        assertThat(endpoint.act("force", "trade", null, null, null, state)).isEqualTo(endpoint.clusters());
    }

    private static List<String> operations(ApplicationContext context) {
        return context.getBean(JmxEndpointsSupplier.class).getEndpoints().stream()
                .flatMap(endpoint -> endpoint.getOperations().stream())
                .map(JmxOperation::getName)
                .toList();
    }

    private static double gauge(MeterRegistry meters, String name, String cluster) {
        return meters.get(name).tag("cluster", cluster).gauge().value();
    }

    private static LettuceConnectionFactory factory(ApplicationContext context, String id) {
        RedisConnections connections =
                context.getBean(NamedClusters.class).connections().get(id);
        OwnConnections own = (OwnConnections) ReflectionTestUtils.getField(connections, "own");
        return (LettuceConnectionFactory) own.factory();
    }

    private static void stop(ApplicationContext context) {
        ((ConfigurableApplicationContext) context).stop();
    }

    private static void start(ApplicationContext context) {
        ((ConfigurableApplicationContext) context).start();
    }

    private List<String> recoveryThreads() {
        return List.copyOf(recoveryStacks().keySet());
    }

    private Map<String, List<StackTraceElement>> recoveryStacks() {
        Map<String, List<StackTraceElement>> stacks = new HashMap<>();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            if (thread.getName().startsWith("easy-cache-recovery-") && !threadsBefore.contains(thread)) {
                stacks.put(thread.getName(), List.of(stack));
            }
        });
        return stacks;
    }
}
