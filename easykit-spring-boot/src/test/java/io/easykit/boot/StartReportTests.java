package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.easykit.test.StartFailure;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;

class StartReportTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(One.class, Other.class);

    static class Check implements StartCheck {

        private final List<Problem> settings = new ArrayList<>();
        private final List<Problem> types = new ArrayList<>();
        private final List<Problem> declarations = new ArrayList<>();
        private boolean passed;

        @Override
        public List<Problem> settings(ConfigurableListableBeanFactory beans) {
            return settings;
        }

        @Override
        public List<Problem> declaredTypes(ConfigurableListableBeanFactory beans) {
            if (types.isEmpty()) {
                throw new NoClassDefFoundError("a class of a bean");
            }
            return types;
        }

        @Override
        public List<Problem> declarations() {
            return declarations;
        }

        @Override
        public void passed() {
            passed = true;
        }
    }

    @Import(StartReport.class)
    static class One {}

    @Import(StartReport.class)
    static class Other {}

    private static Problem problem(String text) {
        return new Problem(text, "mend " + text);
    }

    @Test
    void passesWithoutProblems() {
        Check check = new Check();
        runner.withBean("check", Check.class, () -> check).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(StartReport.class);
            assertThat(check.passed).isTrue();
        });
    }

    @Test
    void reportsSettingsAndTypesOfAllBeforeAnyBeanIsCreated() {
        Check one = new Check();
        one.settings.add(problem("setting"));
        one.settings.add(problem("redis"));
        Check other = new Check();
        other.settings.add(problem("redis"));
        other.types.add(problem("method"));
        runner.withBean("victim", Object.class, () -> {
                    throw new IllegalStateException("created");
                })
                .withBean("one", Check.class, () -> one)
                .withBean("other", Check.class, () -> other)
                .run(context -> {
                    FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
                    assertThat(analysis.getDescription().lines())
                            .containsExactly("1. setting", "2. redis", "3. method");
                    assertThat(analysis.getAction().lines())
                            .containsExactly("1. mend setting", "2. mend redis", "3. mend method");
                    assertThat(one.passed || other.passed).isFalse();
                });
    }

    @Test
    void reportsDeclarationsOfAllTogether() {
        Check one = new Check();
        one.declarations.add(problem("method"));
        Check other = new Check();
        other.declarations.add(problem("listener"));
        runner.withBean("one", Check.class, () -> one)
                .withBean("other", Check.class, () -> other)
                .run(context -> {
                    assertThat(context)
                            .getFailure()
                            .hasMessageContaining("1. method mend method")
                            .hasMessageContaining("2. listener mend listener");
                    assertThat(one.passed || other.passed).isFalse();
                });
    }

    @ConditionalOnEnabled("shop")
    @Configuration(proxyBeanMethods = false)
    static class Enabled {}

    @ConditionalOnEnabled(value = "shop", enabled = false)
    @Configuration(proxyBeanMethods = false)
    static class Disabled {}

    @ParameterizedTest
    @ValueSource(strings = {"false", "FALSE", "off", "no", "0", " false "})
    void isDisabledByFalse(String value) {
        runner.withUserConfiguration(Enabled.class, Disabled.class)
                .withPropertyValues("shop.enabled=" + value)
                .run(context ->
                        assertThat(context).hasSingleBean(Disabled.class).doesNotHaveBean(Enabled.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "on", "yes", "1", "maybe", "", "disabled", "${none}"})
    void isNotDisabledByWhatIsNotFalse(String value) {
        runner.withUserConfiguration(Enabled.class, Disabled.class)
                .withPropertyValues("shop.enabled=" + value)
                .run(context -> assertThat(context).hasSingleBean(Enabled.class).doesNotHaveBean(Disabled.class));
    }

    @Test
    void needsOneConnectionFactory() {
        assertThat(redisProblems(new ApplicationContextRunner()))
                .singleElement()
                .satisfies(none -> assertThat(none.description()).contains("no bean of type RedisConnectionFactory"));
        assertThat(redisProblems(with("one"))).isEmpty();
        assertThat(redisProblems(with("one", "other")))
                .singleElement()
                .satisfies(several -> assertThat(several.description()).contains("[one, other]"));
        assertThat(redisProblems(with("redisConnectionFactory", "other"))).isEmpty();
        assertThat(redisProblems(with("one")
                        .withBean(
                                "primary",
                                RedisConnectionFactory.class,
                                StartReportTests::redis,
                                bean -> bean.setPrimary(true))))
                .isEmpty();
        assertThat(redisProblems(with("one")
                        .withBean(
                                "fallback",
                                RedisConnectionFactory.class,
                                StartReportTests::redis,
                                bean -> bean.setFallback(true))))
                .isEmpty();
        assertThat(redisProblems(with("one")
                        .withBean(
                                "no candidate",
                                RedisConnectionFactory.class,
                                StartReportTests::redis,
                                bean -> bean.setAutowireCandidate(false))))
                .isEmpty();
    }

    private static ApplicationContextRunner with(String... names) {
        ApplicationContextRunner runner = new ApplicationContextRunner();
        for (String name : names) {
            runner = runner.withBean(name, RedisConnectionFactory.class, StartReportTests::redis);
        }
        return runner;
    }

    private static RedisConnectionFactory redis() {
        return mock(RedisConnectionFactory.class);
    }

    private static List<Problem> redisProblems(ApplicationContextRunner runner) {
        List<Problem> problems = new ArrayList<>();
        runner.run(context -> problems.addAll(RedisFactoryCheck.problems(context.getBeanFactory())));
        return problems;
    }
}
