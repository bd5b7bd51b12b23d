package io.easykit.console.autoconfigure;

import io.easykit.boot.BoundSettings;
import io.easykit.boot.Problem;
import io.easykit.boot.SettingsReport;
import io.easykit.boot.StartCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Checks the settings of the console. */
final class ConsoleStartCheck implements StartCheck {

    private static final String FORWARD_HEADERS = "server.forward-headers-strategy";

    /** Each of them alone enables the valve of Tomcat that replaces the address of the peer. */
    private static final List<String> TOMCAT_HEADERS =
            List.of("server.tomcat.remoteip.remote-ip-header", "server.tomcat.remoteip.protocol-header");

    private static final List<String> FORWARDING = List.of(
            "org.springframework.web.filter.ForwardedHeaderFilter",
            "org.apache.catalina.filters.RemoteIpFilter",
            "org.springframework.web.server.adapter.ForwardedHeaderTransformer");

    private static final String REGISTRATION = "org.springframework.boot.web.servlet.FilterRegistrationBean";

    private final Environment environment;

    ConsoleStartCheck(Environment environment) {
        this.environment = environment;
    }

    @Override
    public List<Problem> settings(ConfigurableListableBeanFactory beans) {
        BoundSettings<ConsoleProperties> bound = bind(environment);
        List<Problem> problems = new ArrayList<>(bound.problems());
        ConsoleProperties settings = bound.value();
        if (settings.enabled()
                && settings.openTo() == ConsoleProperties.OpenTo.LOOPBACK
                && !ConsoleSecurity.isPresent(beans)) {
            requireNoProxy(beans, problems);
        }
        return problems;
    }

    /**
     * Refuses everything that replaces the address of the peer by one that a header names, and hides that header from the
     * console.
     */
    private void requireNoProxy(ListableBeanFactory beans, List<Problem> problems) {
        String strategy = forwardHeaders(environment);
        if (!strategy.equalsIgnoreCase("none")) {
            problems.add(trusted(FORWARD_HEADERS + " is " + strategy, "set " + FORWARD_HEADERS + "=none"));
            return; // The strategy "framework" is one of the beans below.
        }
        for (String header : TOMCAT_HEADERS) {
            String value = environment.getProperty(header);
            if (StringUtils.hasText(value)) {
                problems.add(trusted(header + " is " + value, "remove " + header));
            }
        }
        for (String bean : forwardingBeans(beans)) {
            problems.add(trusted("the bean " + bean + " evaluates the headers of proxies", "remove this bean"));
        }
    }

    private static Problem trusted(String what, String remedy) {
        return new Problem(
                "The setting easykit.console.open-to is loopback, and " + what
                        + ". A proxy on this machine could pass requests of strangers.",
                "Add Spring Security, or " + remedy + ".");
    }

    /** Names of the beans that evaluate the headers of proxies. */
    private static Set<String> forwardingBeans(ListableBeanFactory beans) {
        ClassLoader loader = ConsoleStartCheck.class.getClassLoader();
        Set<String> names = new TreeSet<>();
        for (String name : FORWARDING) {
            if (ClassUtils.isPresent(name, loader)) {
                Class<?> type = ClassUtils.resolveClassName(name, loader);
                names.addAll(namesOf(beans, ResolvableType.forClass(type)));
                if (ClassUtils.isPresent(REGISTRATION, loader)) {
                    Class<?> registration = ClassUtils.resolveClassName(REGISTRATION, loader);
                    names.addAll(namesOf(beans, ResolvableType.forClassWithGenerics(registration, type)));
                }
            }
        }
        return names;
    }

    private static List<String> namesOf(ListableBeanFactory beans, ResolvableType type) {
        return List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false));
    }

    /** On some platforms Spring Boot evaluates the headers of proxies unless this is set. */
    private static String forwardHeaders(Environment environment) {
        CloudPlatform platform = CloudPlatform.getActive(environment);
        boolean byPlatform = platform != null && platform.isUsingForwardHeaders();
        return environment.getProperty(FORWARD_HEADERS, byPlatform ? "native, by " + platform : "none");
    }

    static BoundSettings<ConsoleProperties> bind(Environment environment) {
        return new SettingsReport("easykit.console").bind(ConsoleProperties.class, environment);
    }
}
