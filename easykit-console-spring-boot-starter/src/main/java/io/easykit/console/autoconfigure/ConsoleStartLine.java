package io.easykit.console.autoconfigure;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Logs once after the start where the console is and for whom, or why it is not served. */
final class ConsoleStartLine implements ApplicationListener<ApplicationReadyEvent> {

    private static final Logger log = LoggerFactory.getLogger("easykit.console");

    private final ServedConsole served;
    private final List<String> basePaths;
    private boolean logged;

    /** @param basePaths settings of the paths of the application's port */
    ConsoleStartLine(ServedConsole served, String... basePaths) {
        this.served = served;
        this.basePaths = List.of(basePaths);
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (logged || served.isDisabled()) {
            return;
        }
        logged = true;
        Environment environment = event.getApplicationContext().getEnvironment();
        if ("-1".equals(environment.getProperty("management.server.port"))) {
            log.warn("The console is not served: management.server.port is -1. Set a port to serve it.");
        } else if (served.console() == null) {
            log.warn("The console is not served: {}", served.access());
        } else if (served.open()) {
            log.warn("The console is at {}, open to {}", place(environment), served.access());
        } else {
            log.info("The console is at {}, for {}", place(environment), served.access());
        }
    }

    /** The port is unknown in a test without a server, and in a WAR. */
    private String place(Environment environment) {
        String port =
                environment.getProperty("local.management.port", environment.getProperty("local.server.port", ""));
        return path(environment) + (port.isEmpty() ? "/" : "/ on port " + port);
    }

    private String path(Environment environment) {
        boolean ownPort = ManagementPortType.get(environment) == ManagementPortType.DIFFERENT;
        List<String> settings = ownPort ? List.of("management.server.base-path") : basePaths;
        StringBuilder path = new StringBuilder();
        for (String setting : settings) {
            String part = StringUtils.trimTrailingCharacter(environment.getProperty(setting, ""), '/');
            path.append(part.isEmpty() || part.startsWith("/") ? "" : "/").append(part);
        }
        return path.append(served.path()).toString();
    }
}
