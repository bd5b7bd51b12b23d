package io.easykit.cache.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EasyCacheObservationAutoConfiguration;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class LoadObservationsTests {

    private final ObservationRegistry registry = ObservationRegistry.create();
    private final List<Observation.Context> stopped = new ArrayList<>();
    private final LoadObserver observer = new LoadObservations(registry);
    private final CacheKey<String> key =
            CacheSpec.of("user", String.class).withClusterId("trade").key(1);

    @BeforeEach
    void record() {
        registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
            @Override
            public void onStop(Observation.Context context) {
                stopped.add(context);
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    private static String parent(Observation.Context context) {
        return context.getParentObservation() == null
                ? "none"
                : Objects.requireNonNull(
                        context.getParentObservation().getContextView().getContextualName());
    }

    private static String keys(Observation.Context context) {
        return context.getLowCardinalityKeyValues().stream()
                .map(KeyValue::toString)
                .collect(Collectors.joining(" "));
    }

    @Test
    void nameTheCacheAndTheOutcomeAndNoKey() {
        observer.begin(key).end(Load.NOT_STORED, null);
        assertThat(stopped).singleElement().satisfies(context -> {
            assertThat(context.getName()).isEqualTo("easycache.load");
            assertThat(context.getContextualName()).isEqualTo("load user");
            assertThat(keys(context))
                    .contains("cluster=trade", "outcome=not_stored", "prefix=user")
                    .doesNotContain("user::1");
            assertThat(context.getHighCardinalityKeyValues()).isEmpty();
            assertThat(context.getError()).isNull();
        });
    }

    @Test
    void carryTheFailureOfTheLoader() {
        IllegalStateException failure = new IllegalStateException("no database");
        observer.begin(key).end(Load.FAILED, failure);
        assertThat(stopped.get(0).getError()).isSameAs(failure);
        assertThat(registry.getCurrentObservation()).isNull();
    }

    @Test
    void areChildrenOfTheirCallersAndOfEachOther() {
        Observation.createNotStarted("http", registry).contextualName("request").observe(() -> {
            LoadObserver.Observed outer = observer.begin(key);
            observer.begin(key).end(Load.STORED, null);
            outer.end(Load.STORED, null);
        });
        assertThat(stopped).extracting(LoadObservationsTests::parent).containsExactly("load user", "request", "none");
    }

    /** The value of the load arrives later, on a thread with an observation of its own. */
    @Test
    void leaveTheThreadThatHasBegunTheLoad() {
        LoadObserver.Observed load = observer.begin(key);
        load.leave();
        assertThat(registry.getCurrentObservation()).isNull();
        assertThat(stopped).isEmpty();

        Observation other = Observation.createNotStarted("http", registry);
        other.observe(() -> {
            load.end(Load.STORED, null);
            assertThat(registry.getCurrentObservation()).isSameAs(other);
        });
        assertThat(stopped).extracting(Observation.Context::getName).containsExactly("easycache.load", "http");
    }

    /** Another handler of the application, which throws at one event. */
    private void breakAt(String event) {
        registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
            private void fail(String happened) {
                if (happened.equals(event)) {
                    throw new IllegalStateException(event);
                }
            }

            @Override
            public void onError(Observation.Context context) {
                fail("error");
            }

            @Override
            public void onScopeOpened(Observation.Context context) {
                fail("scope opened");
            }

            @Override
            public void onScopeClosed(Observation.Context context) {
                fail("scope closed");
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"scope opened", "scope closed", "error"})
    void endAlsoIfAHandlerThrows(String event) {
        Observation caller = Observation.start("request", registry);
        Observation.Scope scope = caller.openScope();
        breakAt(event);
        assertThatThrownBy(() -> observer.begin(key).end(Load.FAILED, new IllegalStateException("no database")))
                .hasMessage(event);
        assertThat(stopped).extracting(Observation.Context::getName).containsExactly("easycache.load");
        assertThat(registry.getCurrentObservation()).isSameAs(caller);
        scope.close();
    }

    @Test
    void areRootsInTheBackground() {
        Observation.createNotStarted("http", registry)
                .contextualName("request")
                .observe(
                        () -> observer.runInBackground(() -> observer.begin(key).end(Load.STORED, null)));
        assertThat(stopped).extracting(LoadObservationsTests::parent).containsExactly("none", "none");
    }

    @Test
    void costNothingWithoutAHandler() {
        LoadObserver unused = new LoadObservations(ObservationRegistry.create());
        assertThat(unused.begin(key)).isSameAs(LoadObserver.Observed.NONE);
        List<String> ran = new ArrayList<>();
        unused.runInBackground(() -> ran.add("ran"));
        assertThat(ran).containsExactly("ran");
    }

    @Test
    void areMadeOfTheApplicationsRegistry() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        EasyCacheObservationAutoConfiguration.class,
                        EasyCacheAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.port=1")
                .withBean(ObservationRegistry.class, () -> registry)
                .run(context -> {
                    EasyCache cache = context.getBean(EasyCache.class);
                    CacheSpec<String> users = CacheSpec.of("user", String.class);
                    cache.fetch(users.key(1), () -> cache.fetch(users.key(2), () -> "value"));
                    assertThatThrownBy(() -> cache.fetch(users.key(3), () -> {
                                throw new IllegalStateException("no database");
                            }))
                            .hasMessage("no database");
                    assertThat(stopped)
                            .extracting(LoadObservationsTests::parent)
                            .containsExactly("load user", "none", "none");
                    assertThat(stopped).extracting(LoadObservationsTests::keys).allSatisfy(keys -> assertThat(keys)
                            .contains("user", "default"));
                });
    }
}
