package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

class ConditionalOnSwitchTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(On.class, Off.class);

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnSwitch("shop.open-late")
    static class On {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnSwitch(value = "shop.open-late", on = false)
    static class Off {}

    @ParameterizedTest
    @ValueSource(
            strings = {
                "shop.open-late=true",
                "shop.open-late=TRUE",
                "shop.open-late=on",
                "shop.open-late=yes",
                "shop.open-late=1",
                "shop.openLate=yes"
            })
    void isOnForAllThatBindsToTrue(String setting) {
        runner.withPropertyValues(setting)
                .run(context -> assertThat(context).hasSingleBean(On.class).doesNotHaveBean(Off.class));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "shop.open-late=false",
                "shop.open-late=off",
                "shop.open-late=no",
                "shop.open-late=0",
                "shop.open-late=",
                "shop.open-late=maybe",
                "shop.open-late=${missing}"
            })
    void isOffForAllElse(String setting) {
        runner.withPropertyValues(setting)
                .run(context -> assertThat(context).hasSingleBean(Off.class).doesNotHaveBean(On.class));
    }

    @Test
    void isOffByDefault() {
        runner.run(context -> assertThat(context).hasSingleBean(Off.class).doesNotHaveBean(On.class));
    }
}
