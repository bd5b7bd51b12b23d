package io.easykit.cache.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EasyCacheObservationAutoConfiguration;
import io.easykit.test.RedisServer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.test.util.AopTestUtils;
import reactor.core.publisher.Mono;

/** The observation of a request that only Reactor's context carries, as in WebFlux. */
class ReactiveObservationsIntegrationTests {

    private static final String KEY = ObservationThreadLocalAccessor.KEY;
    private static final Duration LONG = Duration.ofSeconds(30);

    static class Rows {

        volatile String version = "old";

        /** What its calls would have as their parent. */
        final List<String> parents = new CopyOnWriteArrayList<>();

        @Cacheable(prefix = "user", keys = "#id", staleWindow = "1m")
        public Mono<String> find(long id) {
            return Mono.deferContextual(context -> {
                parents.add(nameOf(context.getOrDefault(KEY, null)));
                return Mono.just(version);
            });
        }

        @UpdateCache(prefix = "user", keys = "#id")
        public Mono<String> update(long id) {
            return find(id);
        }
    }

    private final ObservationRegistry registry = ObservationRegistry.create();
    private final ObservationRegistry before =
            ObservationThreadLocalAccessor.getInstance().getObservationRegistry();
    private final List<String> loads = new CopyOnWriteArrayList<>();
    private volatile boolean broken;

    @BeforeEach
    void record() {
        RedisServer.shared().flush();
        ObservationThreadLocalAccessor.getInstance().setObservationRegistry(registry);
        registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {

            @Override
            public void onScopeOpened(Observation.Context context) {
                if (broken && "request".equals(context.getContextualName())) {
                    throw new IllegalStateException("broken");
                }
            }

            @Override
            public void onStop(Observation.Context context) {
                if (context.getName().equals("easycache.load")) {
                    var parent = context.getParentObservation();
                    loads.add(parent == null ? "none" : parent.getContextView().getContextualName());
                }
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    @AfterEach
    void restore() {
        ObservationThreadLocalAccessor.getInstance().setObservationRegistry(before);
    }

    private static String nameOf(Object observation) {
        return observation instanceof Observation known
                ? known.getContextView().getContextualName()
                : String.valueOf(observation);
    }

    private void run(Consumer<Rows> test) {
        RedisServer redis = RedisServer.shared();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        EasyCacheObservationAutoConfiguration.class,
                        EasyCacheAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=10s")
                .withBean(ObservationRegistry.class, () -> registry)
                .withBean(Rows.class, Rows::new)
                .run(context -> test.accept(context.getBean(Rows.class)));
    }

    private Observation request() {
        return Observation.start("http", registry).contextualName("request");
    }

    private static String in(Observation request, Mono<String> call) {
        return call.contextWrite(context -> context.put(KEY, request)).block(LONG);
    }

    private static List<String> parents(Rows rows) {
        Rows target = AopTestUtils.getTargetObject(rows);
        return target.parents;
    }

    @Test
    void aLoadIsAChildOfTheRequestAndAParentOfItsCalls() {
        run(rows -> {
            assertThat(in(request(), rows.find(1))).isEqualTo("old");
            assertThat(loads).containsExactly("request");
            assertThat(parents(rows)).containsExactly("load user");
            assertThat(registry.getCurrentObservation()).isNull();
        });
    }

    @Test
    void theCallsOfAnUpdateAreChildrenOfTheRequest() {
        run(rows -> {
            assertThat(in(request(), rows.update(1))).isEqualTo("old");
            assertThat(parents(rows)).containsExactly("request");
        });
    }

    @Test
    void aReloadIsARootAndTheParentOfItsCalls() {
        run(rows -> {
            in(request(), rows.find(1));
            run(elsewhere -> elsewhere.update(1).block(LONG));
            Rows target = AopTestUtils.getTargetObject(rows);
            target.version = "new";
            assertThat(in(request(), rows.find(1))).isEqualTo("old");
            await().until(() -> loads.size() == 2);
            assertThat(loads).containsExactly("request", "none");
            assertThat(parents(rows)).containsExactly("load user", "load user");
        });
    }

    @Test
    void aReadGoesOnIfAHandlerThrows() {
        broken = true;
        run(rows -> {
            assertThat(in(request(), rows.find(1))).isEqualTo("old");
            assertThat(registry.getCurrentObservation()).isNull();
        });
    }

    @Test
    void aReadNeedsNoObservation() {
        run(rows -> {
            assertThat(rows.find(1).block(LONG)).isEqualTo("old");
            assertThat(rows.find(2)
                            .contextWrite(context -> context.put(KEY, "foreign"))
                            .block(LONG))
                    .isEqualTo("old");
            assertThat(parents(rows)).containsExactly("null", "foreign");
        });
    }
}
