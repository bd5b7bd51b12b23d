package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.boot.BoundSettings;
import io.easykit.boot.Problem;
import io.easykit.test.SettingsContract;
import java.util.List;
import java.util.Map;
import org.apache.catalina.filters.RemoteIpFilter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.core.env.Environment;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.security.web.DefaultSecurityFilterChain;
import org.springframework.web.filter.ForwardedHeaderFilter;
import org.springframework.web.server.adapter.ForwardedHeaderTransformer;

class SettingsTests extends SettingsContract {

    SettingsTests() {
        super("easykit.console");
    }

    @Override
    protected Object bind(Environment environment) {
        BoundSettings<ConsoleProperties> settings = ConsoleStartCheck.bind(environment);
        assertThat(settings.problems()).isEmpty();
        return settings.value();
    }

    @Override
    protected void assertEngineDefaults(Object settings) {
        assertThat(((ConsoleProperties) settings).label()).isNull();
    }

    @Override
    protected boolean hasDurations() {
        return false;
    }

    @Override
    protected Map<String, String> examples() {
        return Map.of(
                "easykit.console.label", "PROD",
                "easykit.console.color", "red",
                "easykit.console.links", "[{label: Staging, href: \"https://staging.example.com/easykit/\"}]",
                "easykit.console.origins", "[\"https://ops.example.com\"]");
    }

    @ParameterizedTest
    @CsvSource({
        "easykit.console.path,easykit",
        "easykit.console.path,/easykit/",
        "easykit.console.path,/",
        "easykit.console.open-to,all",
        "easykit.console.access,none",
        "easykit.console.color,pink",
        "easykit.console.audit-size,-1",
        "easykit.console.origins,ops.example.com",
        "easykit.console.origins,https://*.example.com",
        "easykit.console.origins,https://ada@ops.example.com",
        "easykit.console.origins,https://ops.example.com/",
        "easykit.console.origins,https://ops.example.com:abc",
        "easykit.console.origins,https://ops:1:2",
        "easykit.console.origins,https://ops.example.com?a",
        "easykit.console.links[0].href,javascript:alert(1)",
        "easykit.console.unknown,1"
    })
    void refusesWrongValuesWithARemedy(String name, String value) {
        MockEnvironment environment = new MockEnvironment().withProperty(name, value);

        assertThat(new ConsoleStartCheck(environment).settings(new DefaultListableBeanFactory()))
                .singleElement()
                .satisfies(problem -> {
                    assertThat(problem.description()).contains(name.replaceFirst("\\[.*", ""));
                    assertThat(problem.remedy()).isNotBlank();
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"https://ops.example.com", "https://ops.example.com:8443", "http://[::1]:8080", "http://10.0.0.1"
            })
    void takesOriginsWithAndWithoutAPort(String origin) {
        MockEnvironment environment = new MockEnvironment().withProperty("easykit.console.origins", origin);

        assertThat(new ConsoleStartCheck(environment).settings(new DefaultListableBeanFactory()))
                .isEmpty();
    }

    @Test
    void refusesNothingOfAConsoleThatIsSwitchedOff() {
        MockEnvironment environment = new MockEnvironment()
                .withProperty("easykit.console.enabled", "false")
                .withProperty("easykit.console.open-to", "loopback")
                .withProperty("server.forward-headers-strategy", "native");

        assertThat(new ConsoleStartCheck(environment).settings(new DefaultListableBeanFactory()))
                .isEmpty();
    }

    @Test
    void refusesLoopbackBehindAProxyThatIsTrusted() {
        MockEnvironment environment = new MockEnvironment()
                .withProperty("easykit.console.open-to", "loopback")
                .withProperty("server.forward-headers-strategy", "native");

        assertThat(new ConsoleStartCheck(environment).settings(new DefaultListableBeanFactory()))
                .singleElement()
                .satisfies(problem -> assertThat(problem.remedy()).contains("server.forward-headers-strategy=none"));
    }

    private static List<Problem> problems(String name, String value, Class<?>... beans) {
        DefaultListableBeanFactory factory = new DefaultListableBeanFactory();
        for (Class<?> bean : beans) {
            factory.registerBeanDefinition(bean.getName(), new RootBeanDefinition(bean));
        }
        MockEnvironment environment = new MockEnvironment()
                .withProperty("easykit.console.open-to", "loopback")
                .withProperty(name, value);
        return new ConsoleStartCheck(environment).settings(factory);
    }

    @ParameterizedTest
    @CsvSource({
        "server.tomcat.remoteip.remote-ip-header,X-Forwarded-For",
        "server.tomcat.remoteip.protocol-header,X-Forwarded-Proto"
    })
    void refusesLoopbackIfTomcatEvaluatesTheHeadersOfProxies(String name, String value) {
        assertThat(problems(name, value)).singleElement().satisfies(problem -> {
            assertThat(problem.description()).contains(name + " is " + value);
            assertThat(problem.remedy()).contains("remove " + name);
        });
        assertThat(problems(name, "")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                ForwardedHeaderFilter.class,
                RemoteIpFilter.class,
                ForwardedHeaderTransformer.class,
                Registration.class
            })
    void refusesLoopbackWithABeanThatEvaluatesTheHeadersOfProxies(Class<?> bean) {
        assertThat(problems("a", "b", bean)).singleElement().satisfies(problem -> {
            assertThat(problem.description()).contains(bean.getName());
            assertThat(problem.remedy()).contains("remove this bean");
        });
    }

    /** A registration of the filter. */
    static class Registration extends FilterRegistrationBean<ForwardedHeaderFilter> {}

    @Test
    void ignoresTheSettingIfSpringSecurityProtectsTheApplication() {
        assertThat(problems("server.forward-headers-strategy", "native", DefaultSecurityFilterChain.class))
                .isEmpty();
        assertThat(problems("server.forward-headers-strategy", "framework", ForwardedHeaderFilter.class))
                .hasSize(1);
    }
}
