package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

/** The conditions of an application that was processed ahead of time were evaluated with other settings, at its build. */
class DisabledAtTheStartTests {

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(ConsoleAutoConfiguration.class))
            .withPropertyValues("easykit.console.open-to=everyone");

    /** Settings that the conditions have not seen. */
    @Configuration(proxyBeanMethods = false)
    static class LaterSettings {

        @Bean
        static BeanFactoryPostProcessor disabled(ConfigurableEnvironment environment) {
            return beans ->
                    TestPropertyValues.of("easykit.console.enabled=false").applyTo(environment);
        }
    }

    private static int status(AssertableWebApplicationContext context) throws Exception {
        return MockMvcBuilders.routerFunctions(
                        new ConsoleMvcConfiguration().easykitConsoleRoutes(context.getBean(ServedConsole.class)))
                .build()
                .perform(get("/easykit/"))
                .andReturn()
                .getResponse()
                .getStatus();
    }

    @Test
    void answers404() {
        runner.run(context -> assertThat(status(context)).isEqualTo(200));
        runner.withUserConfiguration(LaterSettings.class)
                .run(context -> assertThat(status(context)).isEqualTo(404));
    }
}
