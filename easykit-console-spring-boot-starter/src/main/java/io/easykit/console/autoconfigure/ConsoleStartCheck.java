package io.easykit.console.autoconfigure;

import io.easykit.boot.BoundSettings;
import io.easykit.boot.Problem;
import io.easykit.boot.SettingsReport;
import io.easykit.boot.StartCheck;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.env.Environment;

/** Checks the settings of the console. */
final class ConsoleStartCheck implements StartCheck {

    private static final String FORWARD_HEADERS = "server.forward-headers-strategy";

    private final Environment environment;

    ConsoleStartCheck(Environment environment) {
        this.environment = environment;
    }

    @Override
    public List<Problem> settings(ConfigurableListableBeanFactory beans) {
        BoundSettings<ConsoleProperties> bound = bind(environment);
        List<Problem> problems = new ArrayList<>(bound.problems());
        String strategy = forwardHeaders(environment);
        if (bound.value().openTo() == ConsoleProperties.OpenTo.LOOPBACK && !strategy.equalsIgnoreCase("none")) {
            problems.add(new Problem(
                    "The setting easykit.console.open-to is loopback, and " + FORWARD_HEADERS + " is " + strategy
                            + ". A proxy on this machine could pass requests of strangers.",
                    "Add Spring Security, or set " + FORWARD_HEADERS + "=none."));
        }
        return problems;
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
